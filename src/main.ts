#!/usr/bin/env -S node --max-semi-space-size=4
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { inspect } from "node:util";
import { runCli } from "./cli.ts";
import type { CommandWorld } from "./commands/command-world.ts";
import { createRedact } from "./core/model/redact.ts";
import { hasCode } from "./io/system-error.ts";

// The flags: V8 lets garbage gather for throughput that a daemon which mostly waits has no use for (docs/PERFORMANCE.md#memory).

// Where the process meets the world: argv, environment, clock, streams, signals, exit codes. Nothing else reads `process`.

const EXIT_BUG = 1;

const secrets = new Set<string>();

const world: CommandWorld = {
  env: process.env,
  packageRoot: fileURLToPath(new URL("../", import.meta.url)),
  nodeVersion: process.version,
  readFile: (path) => readFileSync(path, "utf8"),
  out: (line) => process.stdout.write(`${line}\n`),
  err: (line) => process.stderr.write(`${line}\n`),
  outIsTerminal: Boolean(process.stdout.isTTY),
  errIsTerminal: Boolean(process.stderr.isTTY),
  outColumns: process.stdout.columns,
  nowMs: Date.now,
  monotonicMs: () => performance.now(),
  random: Math.random,
  onSignal: (signal, listener) => process.on(signal, listener),
  keepSecret: (texts) => {
    for (const text of texts) {
      secrets.add(text);
    }
  },
  crash,
};

for (const stream of [process.stdout, process.stderr]) {
  stream.on("error", (error) => {
    // Who closes a pipe early, as `head` does, has read enough.
    if (!hasCode(error, "EPIPE")) {
      crash(error);
    }
  });
}
process.on("uncaughtException", crash);
process.on("unhandledRejection", crash);
process.exitCode = await runCli(process.argv, world);

/** A bug of ours: loud, and the end. */
function crash(error: unknown): never {
  const told = inspect(error, { breakLength: Number.POSITIVE_INFINITY });
  process.stderr.write(`synclag: this is a bug: ${createRedact([...secrets])(told)}\n`);
  process.exit(EXIT_BUG);
}
