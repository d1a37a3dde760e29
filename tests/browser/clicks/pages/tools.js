"use strict";
// What the kinds of hostile blocks share: seeded random numbers, labels, elements, and the times at which something happens.
const WORDS_A = ["Amber", "Brisk", "Coral", "Dusty", "Early", "Frosty", "Gentle", "Hollow", "Ivory", "Jolly", "Keen", "Lunar", "Mellow",
  "Noble", "Olive", "Plain", "Quiet", "Rusty", "Silver", "Tidy", "Urban", "Vivid", "Windy", "Young", "Zesty"];
const WORDS_B = ["anchor", "basket", "candle", "donkey", "engine", "falcon", "garden", "hammer", "island", "jacket", "kettle", "ladder",
  "marble", "needle", "orange", "pencil", "quarry", "rocket", "saddle", "temple", "umpire", "violin", "walnut", "yogurt", "zipper"];
const kinds = {};
const tapActs = [];
const usedLabels = new Set();
let state = Number(setup.seed || 1) >>> 0;

/** Returns a number from 0 up to 1, from the seed. */
function random() {
  state = (state + 0x6d2b79f5) >>> 0;
  let t = Math.imul(state ^ (state >>> 15), 1 | state);
  t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
  return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
}

/** Returns an integer from `low` to `high`. */
function between(low, high) {
  return low + Math.floor(random() * (high - low + 1));
}

/** Returns one element of a list. */
function pick(list) {
  return list[between(0, list.length - 1)];
}

/** Returns a list in a random order. */
function shuffled(list) {
  return list.map((value) => [random(), value]).sort((a, b) => a[0] - b[0]).map((pair) => pair[1]);
}

/** Returns a label that nothing on this page, or in a frame of it, has had. */
function newLabel() {
  let label;
  do {
    const [first, second] = [pick(WORDS_A), pick(WORDS_B)];
    label = { srcdoc: second + " " + first, site: second + " of " + first }[setup.frame] || first + " " + second;
    if (usedLabels.size > 500) label += " " + usedLabels.size;
  } while (usedLabels.has(label));
  usedLabels.add(label);
  return label;
}

/** Creates an element with classes inside a parent. */
function create(parent, tag, classes = "", text = "") {
  const element = document.createElement(tag);
  element.className = classes;
  element.textContent = text;
  if (parent) parent.append(element);
  return element;
}

/** Creates one of the elements that people use as buttons; it is not yet on the page. */
function bareButton(text) {
  const tag = pick(["button", "button", "a", "div", "span"]);
  const element = create(null, tag, "thing", text);
  if (tag === "a") element.href = "#" + between(1, 99);
  if (tag === "div" || tag === "span") {
    if (random() < 0.7) element.setAttribute("role", "button");
    element.tabIndex = 0;
    element.onclick = () => {};
  }
  return element;
}

/** Creates a known button inside a parent. */
function button(parent, kind, options = {}) {
  const label = options.label || newLabel();
  const element = know(bareButton(label), kind, label, options.context);
  if (options.left !== undefined) {
    element.classList.add("placed");
    element.style.left = options.left + "px";
    element.style.top = options.top + "px";
    element.style.width = (options.width || 150) + "px";
  }
  if (parent) parent.append(element);
  return element;
}

/** Changes the label of a known element. */
function relabel(element, label) {
  element.textContent = label;
  renamed(element, label);
}

/** Does something again and again, with random pauses. */
function often(low, high, act) {
  setTimeout(() => {
    act();
    often(low, high, act);
  }, between(low, high));
}

/** Does something at random times, and at some of the moments at which the agent taps. */
function hostile(act, low = 400, high = 2500) {
  tapActs.push(act);
  if (high) often(low, high, act);
}

/** Does a few of the hostile things a short time after the agent began a tap. */
function tapBegan() {
  const count = pick([0, 1, 1, 2, 3]);
  for (const act of shuffled(tapActs).slice(0, count)) {
    setTimeout(act, pick([between(0, 10), between(10, 40), between(20, 80), between(60, 400)]));
  }
}

// The stream of taps has a port of its own, because a browser opens only six connections to a port.
new EventSource(`http://${location.hostname || "127.0.0.1"}:${setup.events}/events`).onmessage = tapBegan;
