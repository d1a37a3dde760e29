"use strict";
// Builds the page from the kinds that its address names, and leaves room below so that the page can be scrolled.
for (const name of setup.kinds.split(",")) {
  kinds[name](create(document.body, "div", "box"));
}
if (!setup.frame) {
  create(document.body, "div").style.height = "700px";
  const box = create(document.body, "div", "box");
  for (const left of [10, 180]) button(box, "below", { left, top: 40 });
}
sendNews(false);
