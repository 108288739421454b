#!/usr/bin/env node
// Starts the program ktx, which the package for this system has. npm installs that
// package as an optional dependency; nothing is downloaded when this runs.
"use strict";

const { spawn } = require("node:child_process");

const system = `${process.platform}-${process.arch}`;
const name = `@ktxhq/ktx-${system}`;
const file = process.platform === "win32" ? "ktx.exe" : "ktx";

let program;
try {
  program = require.resolve(`${name}/bin/${file}`);
} catch {
  const offered = Object.keys(require("./package.json").optionalDependencies).map((each) => each.replace("@ktxhq/ktx-", ""));
  if (offered.includes(system)) {
    console.error(`ktx: the package ${name} is not installed. npm leaves it out with --omit=optional, and when node_modules was copied from another system. Install @ktxhq/ktx again without that option, on this machine.`);
  } else {
    console.error(`ktx: there is no program for ${system}; there are programs for ${offered.join(", ")}. Build ktx from its source: https://github.com/ktxhq/ktx`);
  }
  process.exit(3);
}

const child = spawn(program, process.argv.slice(2), { stdio: "inherit", windowsHide: true });

// A terminal sends its signals to ktx too, and ktx ends at once at the second
// interrupt. So these are passed on only where there is no terminal.
const terminal = process.stdin.isTTY || process.stdout.isTTY || process.stderr.isTTY;
for (const signal of ["SIGINT", "SIGHUP"]) {
  process.on(signal, () => {
    if (!terminal) child.kill(signal);
  });
}
process.on("SIGTERM", () => child.kill("SIGTERM"));

child.on("error", (err) => {
  console.error(`ktx: ${program} does not start: ${err.message}`);
  process.exit(3);
});
child.on("exit", (code, signal) => {
  if (signal === null) {
    process.exit(code);
  }
  process.removeAllListeners(signal);
  process.kill(process.pid, signal);
});
