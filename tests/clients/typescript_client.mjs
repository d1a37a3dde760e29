// Drives `afctl mcp` with the official TypeScript SDK: tools, a whole task, resources with a subscription, progress, a cancelled wait.
//
// Usage: NODE_MODULES=DIR node typescript_client.mjs AFCTL SOCKET

import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const require = createRequire(join(process.env.NODE_MODULES, "..", "package.json"));
const load = (part) => import(pathToFileURL(require.resolve(`@modelcontextprotocol/sdk/${part}`)));
const { Client } = await load("client/index.js");
const { StdioClientTransport } = await load("client/stdio.js");
const { ResourceUpdatedNotificationSchema } = await load("types.js");

const [afctl, socket] = process.argv.slice(2);
const client = new Client({ name: "typescript-sdk", version: "1" }, { capabilities: {} });
await client.connect(new StdioClientTransport({ command: afctl, args: ["mcp", "--socket", socket] }));
const call = async (name, args, options) => client.callTool({ name, arguments: args }, undefined, options);
const text = (result) => result.content[0].text;

try {
  const { tools } = await client.listTools();
  assert(tools.length >= 10 && tools.length <= 16 && tools.every((tool) => tool.name.startsWith("af_")));

  // A whole task: see what the Wi-Fi page says.
  assert.match(text(await call("af_launch", { package: "com.android.settings" })), /page "Settings"/);
  assert.match(text(await call("af_tap", { value: "Wi-Fi" })), /page "Wi-Fi"/);
  const outline = await call("af_look", {});
  // Some clients show their model structured content alone, so there is none beside the text.
  assert.equal(outline.structuredContent, undefined);
  const label = text(outline).match(/^ *@n\d+ \w+ "([^"]+)"/m)[1];
  assert(!(await call("af_verify", { text: label })).isError);
  assert.match(text(await call("af_back", {})), /page "Settings"/);
  const wrong = await call("af_tap", { value: "Zork" });
  assert(wrong.isError && text(wrong).includes("TARGET_NOT_FOUND"));

  const { resources } = await client.listResources();
  assert(resources.some((resource) => resource.uri === "afd://screen"));
  const { resourceTemplates } = await client.listResourceTemplates();
  assert(resourceTemplates.some((template) => template.uriTemplate === "afd://sessions/{session}"));
  const screen = await client.readResource({ uri: "afd://screen" });
  assert.match(screen.contents[0].text, /\npage "Settings"/);

  const updated = new Promise((resolve) => {
    client.setNotificationHandler(ResourceUpdatedNotificationSchema, ({ params }) => params.uri === "afd://notes" && resolve());
  });
  await client.subscribeResource({ uri: "afd://notes" });
  await call("af_note_save", { topic: "nav/wifi", content: "first row of Settings", app: "com.android.settings" });
  await updated;
  assert.match((await client.readResource({ uri: "afd://notes" })).contents[0].text, /nav\/wifi/);

  const steps = [];
  const wait = { until: "text", text: "never", timeoutMs: 2500 };
  const ranOut = await call("af_wait", wait, { onprogress: (step) => steps.push(step) });
  assert(ranOut.isError && steps.length > 0 && steps[0].total === 2500, JSON.stringify(steps));
  const abort = new AbortController();
  const waiting = call("af_wait", { ...wait, timeoutMs: 600000 }, { signal: abort.signal, onprogress: () => abort.abort() });
  await assert.rejects(waiting);
  assert.match(text(await call("af_look", {})), /^page /);

  const { prompts } = await client.listPrompts();
  assert.deepEqual(prompts.map((prompt) => prompt.name).sort(), ["report", "resume", "test_app"]);
  console.log("done");
} finally {
  await client.close();
}
