"use strict";
// Blocks whose elements become others, or look like others.

/** Equal buttons in different rows, and new rows before them. */
kinds.rows = (box) => {
  const list = create(box, "ul", "rows");
  const add = (front) => {
    const row = create(null, "li");
    const key = "Item " + newLabel();
    create(row, "span", "key", key);
    button(row, "rows", { label: "Delete", context: key });
    list[front ? "prepend" : "append"](row);
  };
  for (let index = 0; index < 4; index += 1) add(false);
  hostile(() => {
    if (random() < 0.5 && list.children.length > 3) {
      list.firstChild.remove();
      note("rows: the first row goes");
    } else {
      add(true);
      note("rows: a new first row");
    }
    while (list.children.length > 7) list.lastChild.remove();
  }, 500, 2500);
};

/** Buttons that are replaced by other ones at the same place. */
kinds.replace = (box) => {
  const elements = [10, 180, 350].map((left) => button(box, "replace", { left, top: 40 }));
  hostile(() => {
    const index = between(0, 2);
    const fresh = button(null, "replace", { left: [10, 180, 350][index], top: 40 });
    note("replace: " + elements[index].textContent + " by " + fresh.textContent);
    elements[index].replaceWith(fresh);
    elements[index] = fresh;
  });
};

/** Elements that stay the same but get another label. */
kinds.relabel = (box) => {
  const elements = [10, 180, 350].map((left) => button(box, "relabel", { left, top: 40 }));
  hostile(() => {
    const element = pick(elements);
    const label = newLabel();
    note("relabel: " + element.textContent + " to " + label);
    relabel(element, label);
  });
};

/** Rows that are used again for other content, as in a virtual list: the same element is then another thing. */
kinds.recycle = (box) => {
  const elements = [0, 1, 2, 3, 4, 5].map((index) => button(box, "recycle", { left: 10 + 210 * (index % 3), top: index < 3 ? 15 : 65, width: 200 }));
  hostile(() => {
    const labels = elements.map((element) => element.textContent);
    labels.unshift(newLabel());
    elements.forEach((element, index) => {
      element.textContent = labels[index];
      know(element, "recycle", labels[index]);
    });
    note("recycle: all content moved on by one");
  });
};

/** A list that is rebuilt all the time with the same labels. */
kinds.rerender = (box) => {
  const labels = [newLabel(), newLabel(), newLabel(), newLabel()];
  const build = () => {
    box.replaceChildren();
    for (const label of labels) button(box, "rerender", { label }).style.width = "160px";
    note("rerender: rebuilt");
  };
  build();
  often(100, 600, build);
  hostile(() => {
    labels.unshift(labels.pop());
    build();
    note("rerender: in another order");
  }, 800, 3000);
};

/** Buttons that are disabled at times, in several ways. */
kinds.disabled = (box) => {
  const area = create(box, "fieldset");
  const elements = [0, 1, 2, 3].map(() => {
    const label = newLabel();
    const element = know(create(area, "button", "thing", label), "disabled", label);
    return element;
  });
  elements[0].disabled = true;
  elements[1].setAttribute("aria-disabled", "true");
  elements[2].style.pointerEvents = "none";
  hostile(() => {
    if (random() < 0.4) area.disabled = !area.disabled;
    else elements[3].disabled = !elements[3].disabled;
    note("disabled: changed");
  });
};

/** Labels that contain one another, of which some go and come. */
kinds.contained = (box) => {
  const first = newLabel();
  const texts = [first, first + " as", first + " all files", "Do not " + first.toLowerCase()];
  const elements = texts.map((label) => button(box, "contained", { label }));
  hostile(() => {
    const element = pick(elements);
    if (element.isConnected) element.remove();
    else box.append(element);
    note("contained: " + element.textContent + (element.isConnected ? " comes" : " goes"));
  });
};

/** Check boxes with labels around them, of which the first one goes and comes. */
kinds.boxes = (box) => {
  const lines = [0, 1, 2, 3].map(() => {
    const label = newLabel();
    const line = know(create(null, "label", "thing"), "boxes", label);
    const input = create(line, "input");
    input.type = "checkbox";
    line.append(" " + label);
    const outer = create(box, "div");
    outer.append(line);
    return outer;
  });
  hostile(() => {
    if (lines[0].isConnected) lines[0].remove();
    else box.prepend(lines[0]);
    note("boxes: the first one " + (lines[0].isConnected ? "comes" : "goes"));
  });
};
