"use strict";
// Blocks whose elements are in unusual places.

/** Elements out of sight, in a container inside a container, and far to the right. */
kinds.scroll = (box) => {
  const outer = create(box, "div", "scroller");
  button(outer, "scroll");
  create(outer, "div").style.height = "150px";
  const inner = create(outer, "div", "scroller");
  inner.style.height = "80px";
  for (let index = 0; index < 8; index += 1) {
    button(inner, "scroll");
    create(inner, "div").style.height = between(5, 60) + "px";
  }
  const line = create(outer, "div");
  line.style.cssText = "width: 300px; overflow: auto; white-space: nowrap";
  for (let index = 0; index < 5; index += 1) button(line, "scroll");
  hostile(() => {
    pick([outer, inner]).scrollTo({ top: between(0, 300), behavior: pick(["smooth", "instant"]) });
    note("scroll: a container scrolls");
  });
  hostile(() => {
    scrollTo({ top: between(0, 400), behavior: pick(["smooth", "instant"]) });
    note("scroll: the page scrolls");
  }, 3000, 9000);
};

/** Very small elements close together. */
kinds.tiny = (box) => {
  let left = 20;
  for (let index = 0; index < 12; index += 1) {
    const size = pick([2, 3, 5, 8]);
    const label = newLabel();
    const element = know(create(box, "button", "placed"), "tiny", label);
    element.setAttribute("aria-label", label);
    element.style.cssText = `left: ${left}px; top: 40px; width: ${size}px; height: ${size}px; padding: 0; border: 0; background: #33a`;
    left += size + pick([0, 0, 1, 30]);
  }
  hostile(() => {
    const first = box.firstChild.style;
    const distance = first.left === "20px" ? 3 : -3;
    for (const element of box.children) element.style.left = parseFloat(element.style.left) + distance + "px";
    note("tiny: all moved by " + distance);
  });
};

/** Elements in an open and in a closed shadow root, which swap their places. */
kinds.shadow = (box) => {
  for (const mode of ["open", "closed"]) {
    const host = create(box, "div");
    const root = host.attachShadow({ mode });
    root.innerHTML = '<link rel="stylesheet" href="/style.css">';
    if (mode === "closed") {
      closedHosts.add(host);
      listen(root);
    }
    const elements = [button(root, "shadow"), button(root, "shadow"), button(root, "shadow")];
    hostile(() => {
      const first = pick(elements);
      root.insertBefore(first, root.childNodes[1]);
      note("shadow: first is now " + first.textContent);
    });
  }
};

/** Lets a frame move and change its size. */
function moveFrame(frame, name) {
  frame.style.cssText = "position: absolute; left: 5px; top: 2px; width: 620px; height: 124px; border: 0";
  hostile(() => {
    frame.style.left = pick([5, 5, 60, 175]) + "px";
    frame.style.top = pick([2, 2, -26, -40]) + "px";
    note(name + ": the frame is at " + frame.style.left + " " + frame.style.top);
  }, 900, 4000);
}

/** A frame with its content in an attribute, which has a hostile block. */
kinds.frame = (box) => {
  const kind = pick(["swap", "replace", "overlay", "rows", "resort", "moving", "recycle"]);
  const inner = { page: setup.page, events: setup.events, frame: "srcdoc", seed: between(1, 1e9), kinds: kind };
  const files = ["recorder", "tools", "kinds_move", "kinds_cover", "kinds_change", "kinds_place", "main"];
  const frame = create(null, "iframe");
  frame.title = "Inner";
  frame.srcdoc = '<!doctype html><link rel="stylesheet" href="/style.css"><body><script>window.SETUP = ' + JSON.stringify(inner) + "</scr" + "ipt>"
    + files.map((file) => `<script src="/${file}.js"></scr` + "ipt>").join("");
  box.append(frame);
  moveFrame(frame, "frame");
};

/** A frame of another site, which has a hostile block. */
kinds.site = (box) => {
  const kind = pick(["swap", "replace", "overlay", "rows", "resort", "moving", "recycle"]);
  const frame = create(null, "iframe");
  frame.title = "Other site";
  frame.src = `http://localhost:${location.port}/page.html?page=${setup.page}&events=${setup.events}&frame=site&seed=${between(1, 1e9)}&kinds=${kind}`;
  box.append(frame);
  moveFrame(frame, "site");
};
