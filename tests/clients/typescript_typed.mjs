// Does a task with the client in client/typescript. Usage: node typescript_typed.mjs COMPILED_CLIENT SOCKET

import assert from "node:assert/strict";
import { pathToFileURL } from "node:url";

const [compiled, path] = process.argv.slice(2);
const { Afd, AfdError } = await import(pathToFileURL(compiled));

const steps = [];
const phone = await Afd.connect({ session: "typescript", path, onProgress: (step) => steps.push(step) });
assert.match((await phone.observe.page({ format: "outline" })).outline, /^page "Settings"/);
const step = await phone.act.tap({ value: "Display", then: "diff" });
assert.equal(step.look.changed, true);
assert.equal((await phone.verify.textContains({ text: "Dark theme" })).session, "typescript");
await assert.rejects(phone.act.tap({ value: "Zork" }), (error) => error instanceof AfdError && error.code === "TARGET_NOT_FOUND");
await assert.rejects(phone.observe.wait({ until: "text", text: "never", timeoutMs: 2500 }), { code: "TIMEOUT" });
assert.equal(steps[0].total, 2500);

// Calls wait for each other at the phone only: this one is cancelled while another is answered.
const abort = new AbortController();
const waiting = phone.call("observe.wait", { until: "text", text: "never", timeoutMs: 600000 }, abort.signal);
assert.equal((await phone.device.list()).devices[0].name, "pixel");
abort.abort();
await assert.rejects(waiting, { code: "CANCELLED" });

for await (const message of phone.events({ since: 0 })) {
  if (message.kind === "event" && message.op === "tap") break;
}
const task = await phone.session.task.add({ description: "look around" });
assert.equal((await phone.session.task.list()).tasks[0].id, task.id);
phone.close();
await assert.rejects(phone.act.home(), /closed/);
console.log("done");
