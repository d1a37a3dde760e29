"use strict";
// Blocks in which something comes over the elements.

/** Three buttons, and an overlay with a button that comes over them for a short time. */
kinds.overlay = (box) => {
  for (const left of [10, 180, 350]) button(box, "overlay", { left, top: 40 });
  const cover = know(create(null, "div", "cover"), "overlay", "");
  button(cover, "overlay", { left: 100, top: 40, width: 300 });
  hostile(() => {
    if (cover.isConnected) return;
    box.append(cover);
    note("overlay: appears");
    setTimeout(() => {
      cover.remove();
      note("overlay: goes");
    }, between(100, 900));
  });
};

/** Buttons that let a pop-up slide in under the mouse when it comes. */
kinds.popup = (box) => {
  for (const left of [10, 180, 350]) {
    const element = button(box, "popup", { left, top: 30 });
    const pop = button(null, "popup", { left: left - 5, top: 20, width: 170 });
    pop.style.height = "60px";
    pop.style.zIndex = 6;
    const delay = pick([0, 0, 3, 8, 20, 40]);
    const slide = pick([0, 0, 60, 150]);
    element.addEventListener("mouseenter", () => {
      if (random() < 0.4) return;
      setTimeout(() => {
        pop.style.transition = `transform ${slide}ms`;
        pop.style.transform = slide ? "translateY(90px)" : "none";
        box.append(pop);
        note("popup: comes over " + element.textContent);
        requestAnimationFrame(() => { pop.style.transform = "none"; });
        setTimeout(() => pop.remove(), between(200, 900));
      }, delay);
    });
  }
};

/** Transparent layers over buttons: one lets clicks through, the other takes them at times. */
kinds.layers = (box) => {
  for (const left of [10, 180, 350, 520]) button(box, "layers", { left, top: 20 });
  for (const left of [10, 180, 350, 520]) button(box, "layers", { left, top: 70 });
  const through = create(box, "div", "layer");
  through.style.pointerEvents = "none";
  const catcher = know(create(box, "div", "layer"), "layers", "");
  catcher.onclick = () => {};
  catcher.style.left = "260px";
  hostile(() => {
    const taking = catcher.style.pointerEvents === "none";
    catcher.style.pointerEvents = taking ? "auto" : "none";
    note("layers: the layer on the right " + (taking ? "takes clicks" : "lets clicks through"));
  });
  hostile(() => {
    catcher.style.left = pick([0, 100, 260, 400]) + "px";
    note("layers: the layer begins at " + catcher.style.left);
  });
};

/** A container that scrolls on its own, with a sticky header with a button over its rows. */
kinds.sticky = (box) => {
  const scroller = create(box, "div", "scroller");
  const head = create(scroller, "div", "head");
  button(head, "sticky");
  button(head, "sticky");
  for (let index = 0; index < 14; index += 1) {
    const line = create(scroller, "div");
    button(line, "sticky").style.width = "200px";
    button(line, "sticky").style.width = "200px";
  }
  hostile(() => {
    const smooth = random() < 0.4;
    scroller.scrollTo({ top: between(0, 300), behavior: smooth ? "smooth" : "instant" });
    note("sticky: scrolls");
  });
};

/** A bar that comes over the top of the window. */
kinds.bar = (box) => {
  for (const left of [10, 180, 350]) button(box, "bar", { left, top: 4 });
  const bar = know(create(null, "div", "bar"), "bar", "");
  button(bar, "bar", { left: 150, top: 6, width: 500 });
  hostile(() => {
    if (bar.isConnected) return;
    document.body.append(bar);
    note("bar: appears at the top");
    setTimeout(() => {
      bar.remove();
      note("bar: goes");
    }, between(200, 1500));
  });
};

/** Returns the dialog of the kind `modal`, and how to open and close it. */
function dialog(real) {
  const panel = create(null, real ? "dialog" : "div", real ? "" : "window");
  const backdrop = know(create(null, "div", "backdrop"), "modal", "");
  const show = () => {
    if (!real) document.body.append(backdrop);
    document.body.append(panel);
    if (real) panel.showModal();
    note("modal: opens");
  };
  const hide = () => {
    if (!panel.isConnected) return;
    if (real) panel.close();
    panel.remove();
    backdrop.remove();
    note("modal: closes");
  };
  if (!real) panel.setAttribute("role", "dialog");
  return { panel, show, hide };
}

/** A modal dialog over the whole page that opens on its own and closes again. */
kinds.modal = (box) => {
  for (const left of [10, 180, 350]) button(box, "modal", { left, top: 40 });
  const { panel, show, hide } = dialog(random() < 0.5);
  create(panel, "p", "", "Please choose");
  button(panel, "modal").onclick = hide;
  button(panel, "modal").onclick = hide;
  hostile(() => {
    if (panel.isConnected) return;
    show();
    setTimeout(hide, between(500, 2000));
  }, 1500, 5000);
};

/** A dialog of the browser itself, once or twice. */
kinds.native = (box) => {
  for (const left of [10, 180, 350]) button(box, "native", { left, top: 40 });
  let left = 2;
  hostile(() => {
    if (left === 0 || random() < 0.5) return;
    left -= 1;
    note("native: a dialog opens");
    confirm("Do you want to stay?");
    note("native: the dialog is closed");
  }, 3000, 9000);
};
