#!/usr/bin/env -S node --max-semi-space-size=16 --heap-growing-percent=200

import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { inspect } from "node:util";
import type { CommandWorld } from "./commands/command-world.ts";
import { createRedact } from "./core/model/redact.ts";
import { lineWriter } from "./io/line-writer.ts";
import { hasCode, isSystemError } from "./io/system-error.ts";
import { createUptime } from "./io/uptime.ts";

// The flags in the first line: the young generation is large enough for the short-lived objects of a round of polls, and V8
// collects the whole heap once it is three times as large as its live objects, instead of four times.

// This file alone uses `process`: argv, environment, clock, streams, signals, exit codes.

const EXIT_FAILURE = 1;
/** The exit code of a failed `check`: its exit code 1 means a warning about the fleet. */
const EXIT_UNKNOWN = 3;
/** At the end, the process waits at most this time for a slow reader of its log; the rest of the log is lost. */
const MAX_FLUSH_MS = 1_000;
const isCheck = process.argv[2] === "check";

let secrets: readonly string[] = [];
let redact = createRedact(secrets);

// By default, SIGUSR1 makes Node open its debugger, in which any user of this machine could run code.
process.on("SIGUSR1", () => undefined);

/** Whether a SIGHUP came while the daemon was still loading. By default, it would have ended the process. */
let isReloadPending = false;
if (process.argv[2] === "run") {
  process.on("SIGHUP", () => {
    isReloadPending = true;
  });
}

const world: CommandWorld = {
  env: process.env,
  packageRoot: fileURLToPath(new URL("../", import.meta.url)),
  nodeVersion: process.version,
  readFile: (path) => readFileSync(path, "utf8"),
  listFiles: (folder, pattern) =>
    readdirSync(folder)
      .filter((name) => pattern.test(name))
      .sort(),
  out: (line) => process.stdout.write(`${line}\n`),
  err: lineWriter(process.stderr),
  outIsTerminal: Boolean(process.stdout.isTTY),
  errIsTerminal: Boolean(process.stderr.isTTY),
  get outColumns() {
    return process.stdout.columns;
  },
  get outRows() {
    return process.stdout.rows;
  },
  nowMs: Date.now,
  monotonicMs: () => performance.now(),
  uptimeMs: createUptime(),
  random: Math.random,
  onSignal: (signal, listener) => {
    process.on(signal, listener);
    if (signal === "SIGHUP" && isReloadPending) {
      isReloadPending = false;
      listener();
    }
  },
  keepSecret: (texts) => {
    secrets = [...new Set([...secrets, ...texts])];
    redact = createRedact(secrets);
  },
  redact: (text) => redact(text),
  crash,
};

process.stdout.on("error", (error) => {
  // EPIPE: the reader, such as `head`, has read enough, so `watch` and `demo` stop.
  if (!hasCode(error, "EPIPE")) {
    fail(`Cannot write the output: ${error.message}`);
  }
  process.emit("SIGTERM", "SIGTERM");
});
// A log line that cannot be written, for example to a full disk, is lost. The daemon keeps running.
process.stderr.on("error", () => undefined);
process.on("uncaughtException", crash);
process.on("unhandledRejection", crash);
// The command line is loaded only now, with the handlers above in place.
const { runCli } = await import("./cli.ts");
process.exitCode = await runCli(process.argv, world);
endWithin(MAX_FLUSH_MS);

/** Ends the process once stdout is written. A stalled reader of stderr does not delay it further. */
function endWithin(ms: number): void {
  setTimeout(() => (process.stdout.writableLength > 0 ? endWithin(ms) : process.exit()), ms).unref();
}

/** Ends the process. Prints the stack of a bug, but only the message of a system error such as a full disk. */
function crash(error: unknown): never {
  if (isSystemError(error)) {
    fail(error instanceof Error ? error.message : String(error));
  }
  fail(`this is a bug: ${inspect(error, { breakLength: Number.POSITIVE_INFINITY })}`);
}

function fail(message: string): never {
  process.stderr.write(`synclag: ${redact(message)}\n`);
  process.exit(isCheck ? EXIT_UNKNOWN : EXIT_FAILURE);
}
