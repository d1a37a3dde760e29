"use strict";
// The ground truth: which element is what since when, and which element got each real click. The accessibility tree does not see it.
const setup = window.SETUP || Object.fromEntries(new URLSearchParams(location.search));
const things = new WeakMap();
const closedHosts = new WeakSet();
let thingCount = 0;
let freshLabels = [];
let freshNotes = [];
let freshRecords = [];

/** Sends all news to the server: labels, notes, presses and clicks; waits for the answer if `wait`. */
function sendNews(wait) {
  if (!freshLabels.length && !freshNotes.length && !freshRecords.length) return;
  const body = JSON.stringify({ page: setup.page, labels: freshLabels, notes: freshNotes, records: freshRecords });
  [freshLabels, freshNotes, freshRecords] = [[], [], []];
  if (!wait) {
    fetch("/news", { method: "POST", body }).catch(() => {});
    return;
  }
  const request = new XMLHttpRequest();
  request.open("POST", "/news", false);
  request.send(body);
}

/** Records that something happened on the page. */
function note(what) {
  freshNotes.push([Date.now(), what]);
}

/** Makes an element known as a new thing of a kind, with a label and the text that tells it from things with the same label. */
function know(element, kind, label, context = "") {
  thingCount += 1;
  const now = Date.now();
  const token = (setup.frame || "top") + thingCount;
  things.set(element, { token, kind, context, born: now, history: [[now, label]] });
  if (label) freshLabels.push(label);
  return element;
}

/** Records that a known element has another label from now on. */
function renamed(element, label) {
  const thing = things.get(element);
  thing.history.push([Date.now(), label]);
  if (thing.history.length > 60) thing.history.shift();
  freshLabels.push(label);
}

/** Reports an event to the server, with the innermost known element that got it. */
function report(type, event) {
  const path = event.composedPath();
  const owner = path.find((node) => things.has(node));
  const record = { page: setup.page, frame: setup.frame || "top", type, time: Date.now(), x: event.clientX, y: event.clientY };
  record.tag = path[0].nodeName || "";
  record.thing = owner ? structuredClone(things.get(owner)) : null;
  freshRecords.push(record);
  if (type === "click") sendNews(true);
}

/** Listens for real presses and clicks in a document, or in a closed shadow root. */
function listen(root) {
  for (const [name, type] of [["pointerdown", "press"], ["click", "click"]]) {
    root.addEventListener(name, (event) => {
      if (event.isTrusted && !closedHosts.has(event.composedPath()[0])) report(type, event);
    }, true);
  }
}

listen(document);
setInterval(sendNews, 20, false);
addEventListener("pagehide", () => sendNews(true));
