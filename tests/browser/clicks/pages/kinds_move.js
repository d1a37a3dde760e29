"use strict";
// Blocks whose elements change their place.

/** Buttons that move slowly along a line and pass one another. */
kinds.moving = (box) => {
  const movers = [];
  for (let index = 0; index < 5; index += 1) {
    const top = 6 + 34 * (index % 3);
    const element = button(box, "moving", { left: 10, top });
    movers.push({ element, base: between(100, 500), size: between(30, 250), period: between(300, 2500) });
  }
  const step = (now) => {
    for (const mover of movers) mover.element.style.left = mover.base + mover.size * Math.sin(now / mover.period) + "px";
    requestAnimationFrame(step);
  };
  requestAnimationFrame(step);
};

/** Neighbours that swap their places. */
kinds.swap = (box) => {
  const flow = create(box, "div");
  const inFlow = [button(flow, "swap"), button(flow, "swap"), button(flow, "swap")];
  const placed = [0, 1, 2].map((index) => button(box, "swap", { left: 10 + 170 * index, top: 60 }));
  hostile(() => {
    const [a, b] = shuffled(placed);
    [a.style.left, b.style.left] = [b.style.left, a.style.left];
    note("swap: places of " + a.textContent + " and " + b.textContent);
  });
  hostile(() => {
    const first = pick(inFlow);
    flow.prepend(first);
    note("swap: first in the flow is now " + first.textContent);
  });
};

/** Buttons that jump to another place, while another one takes theirs. */
kinds.jump = (box) => {
  const slots = shuffled([0, 1, 2, 3, 4, 5, 6, 7]);
  const elements = slots.slice(0, 6).map(() => button(box, "jump", { left: 0, top: 0 }));
  const place = () => {
    elements.forEach((element, index) => {
      element.style.left = 10 + 165 * (slots[index] % 4) + "px";
      element.style.top = 10 + 50 * Math.floor(slots[index] / 4) + "px";
    });
  };
  place();
  hostile(() => {
    slots.push(slots.shift());
    place();
    note("jump: every button took the place of another");
  }, 300, 1800);
};

/** A button that flees from the mouse and leaves a trap where it was. */
kinds.shy = (box) => {
  for (const left of [60, 380]) {
    button(box, "shy", { left: left - 30, top: 20, width: 220 }).style.height = "70px";
    const element = button(box, "shy", { left, top: 40 });
    const delay = pick([0, 2, 5, 10, 25]);
    let away = false;
    document.addEventListener("mousemove", (event) => {
      const area = element.getBoundingClientRect();
      const near = event.clientX > area.left - 20 && event.clientX < area.right + 20
        && event.clientY > area.top - 20 && event.clientY < area.bottom + 20;
      if (!near || random() < 0.5) return;
      setTimeout(() => {
        away = !away;
        element.style.top = (away ? 2 : 40) + "px";
        element.style.left = (away ? left + 160 : left) + "px";
        note("shy: " + element.textContent + " fled");
      }, delay);
    });
  }
};

/** A list whose rows are sorted again, or which gets a new first row, all the time. */
kinds.resort = (box) => {
  const list = create(box, "ul", "rows");
  const add = () => {
    const row = create(null, "li");
    button(row, "resort").style.width = "300px";
    list.prepend(row);
  };
  for (let index = 0; index < 6; index += 1) add();
  hostile(() => {
    if (random() < 0.5) {
      add();
      list.lastChild.remove();
      note("resort: a new first row");
    } else {
      list.append(...shuffled([...list.children]));
      note("resort: other order");
    }
  }, 150, 900);
};

/** Elements that are scaled and rotated, and turn. */
kinds.transformed = (box) => {
  [20, 220, 420, 560].forEach((left, index) => {
    const frame = create(box, "div", "placed");
    frame.style.left = left + "px";
    frame.style.top = "30px";
    frame.style.transform = `scale(${pick([0.4, 0.7, 1.6])}) rotate(${between(-80, 80)}deg)`;
    button(frame, "transformed");
    button(frame, "transformed");
    if (index === 1) {
      hostile(() => {
        frame.style.transform = `scale(${pick([0.4, 0.7, 1.6])}) rotate(${between(-180, 180)}deg)`;
        note("transformed: turned");
      });
    }
  });
};

/** An advertisement that loads late and pushes everything below it down. */
kinds.shift = (box) => {
  const image = create(box, "img");
  image.alt = "";
  for (let index = 0; index < 4; index += 1) {
    const line = create(box, "div");
    button(line, "shift").style.width = "260px";
    button(line, "shift").style.width = "260px";
  }
  image.onload = () => note("shift: the picture has loaded");
  hostile(() => {
    const height = pick([13, 27, 27, 54]);
    image.removeAttribute("src");
    image.src = `/slow.svg?ms=${between(0, 150)}&height=${height}&n=${between(1, 1e6)}`;
    note("shift: a picture begins to load");
  });
};
