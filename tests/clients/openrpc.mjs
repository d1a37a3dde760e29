// Validates an OpenRPC document: against the specification's own schema, and each example against the types that it is an example of.
//
// Usage: NODE_MODULES=DIR node openrpc.mjs DOCUMENT

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";

const require = createRequire(join(process.env.NODE_MODULES, "..", "package.json"));
const { validateOpenRPCDocument } = require("@open-rpc/schema-utils-js");
const Ajv = require("ajv").default;

const document = JSON.parse(readFileSync(process.argv[2], "utf8"));
const valid = validateOpenRPCDocument(document);
assert(valid === true, valid.message);

const ajv = new Ajv({ strict: false, allErrors: true, validateFormats: false });
ajv.addSchema({ $id: "afd", components: document.components });
const absolute = (schema) =>
  JSON.parse(JSON.stringify(schema), (key, value) => (key === "$ref" ? value.replace("#/", "afd#/") : value));
const check = (what, schema, value) => {
  const conforms = ajv.compile(absolute(schema));
  assert(conforms(value), `${what}: ${ajv.errorsText(conforms.errors)}`);
};
let checked = 0;
for (const method of document.methods) {
  const params = new Map(method.params.map((param) => [param.name, param]));
  for (const example of method.examples) {
    const given = new Set(example.params.map((param) => param.name));
    for (const { name, value } of example.params) {
      assert(params.has(name), `${method.name} has no parameter ${name}`);
      check(`${method.name} ${name}`, params.get(name).schema, value);
    }
    for (const { name, required } of method.params) assert(!required || given.has(name), `${method.name}: ${name} is missing`);
    if (method["x-alternatives"]) {
      assert(method["x-alternatives"].some((names) => names.every((name) => given.has(name))), `${method.name}: no alternative`);
    }
    check(`${method.name} result`, method.result.schema, example.result.value);
    checked += 1;
  }
}
for (const { name, schema } of Object.entries(document.components.schemas).map(([name, schema]) => ({ name, schema }))) {
  assert.equal(schema.title, name);
  ajv.compile(absolute(schema));
}
assert(checked >= document.methods.length, "a method has no example");
assert(document["x-notifications"].length === 2 && document.info.license.name);
console.log(`done: ${document.methods.length} methods, ${checked} examples`);
