#!/usr/bin/env node
// Runs a program of afd from the package for this platform. The command `afd` runs afctl, which starts the daemon.
import { spawn } from "node:child_process";
import { createRequire } from "node:module";
import { basename, dirname, join } from "node:path";

const platform = `afd-${process.platform}-${process.arch}`;
const named = basename(process.argv[1]).replace(/\.js$/, "");
const program = named === "afmcp" || named === "afphone" ? named : "afctl";

let directory;
try {
  directory = join(dirname(createRequire(import.meta.url).resolve(`${platform}/package.json`)), "bin");
} catch {
  console.error(`afd: there are no programs for ${process.platform} ${process.arch} (package ${platform})`);
  process.exit(1);
}
const child = spawn(join(directory, program), process.argv.slice(2), { stdio: "inherit" });
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) {
  process.on(signal, () => child.kill(signal));
}
child.on("error", (error) => {
  console.error(`afd: cannot run ${program}: ${error.message}`);
  process.exit(1);
});
child.on("exit", (code, signal) => process.exit(code ?? (signal === "SIGINT" ? 130 : 1)));
