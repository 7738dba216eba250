import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

import { describe, expect, it } from "vitest";

import type { CommandWorld } from "../../src/commands/command-world.ts";
import { demo } from "../../src/commands/demo.ts";

/** A world whose output is kept, and whose signals the test sends. */
function createWorld(): {
  readonly world: CommandWorld;
  readonly outLines: readonly string[];
  readonly errLines: readonly string[];
  readonly send: (signal: string) => void;
  /** Resolves when a line of output starts so. */
  readonly outLine: (start: string) => Promise<string>;
} {
  const outLines: string[] = [];
  const errLines: string[] = [];
  const listeners = new Map<string, () => void>();
  const waiting: { readonly start: string; readonly resolve: (line: string) => void }[] = [];
  const world: CommandWorld = {
    env: { THEGRAPH_API_KEY: "deadbeefdeadbeefdeadbeefdeadbeef" },
    packageRoot: fileURLToPath(new URL("../../", import.meta.url)),
    nodeVersion: process.version,
    readFile: (path) => readFileSync(path, "utf8"),
    out: (line) => {
      outLines.push(line);
      for (const { resolve } of waiting.filter(({ start }) => line.startsWith(start))) {
        resolve(line);
      }
    },
    err: (line) => errLines.push(line),
    outIsTerminal: false,
    errIsTerminal: false,
    nowMs: Date.now,
    monotonicMs: () => performance.now(),
    random: () => 0.5,
    onSignal: (signal, listener) => listeners.set(signal, listener),
    keepSecret: () => undefined,
    crash: (error) => {
      throw error;
    },
  };
  return {
    world,
    outLines,
    errLines,
    send: (signal) => listeners.get(signal)?.(),
    outLine: (start) => new Promise((resolve) => waiting.push({ start, resolve })),
  };
}

describe("demo()", () => {
  it.each([
    {
      flags: { scenario: "turo", speed: "1" },
      problem: 'Cannot play scenario "turo": expected one of tour, calm, outage',
    },
    {
      flags: { scenario: "tour", speed: "fast" },
      problem: 'Cannot play at speed "fast": expected a number above 0, at most 60',
    },
    {
      flags: { scenario: "tour", speed: "1", listen: "here" },
      problem: 'Cannot listen on "here": expected HOST:PORT such as 127.0.0.1:9855 or [::1]:9855',
    },
  ])("refuses $flags", async ({ flags, problem }) => {
    const { world, errLines } = createWorld();

    const exitCode = await demo(flags, world);

    expect(exitCode).toBe(2);
    expect(errLines).toEqual([problem]);
  });

  it("serves page, metrics and API of the played fleet, and stops cleanly", async () => {
    const { world, outLines, errLines, send, outLine } = createWorld();
    const firstStep = outLine("00:00");

    const running = demo({ scenario: "calm", speed: "1", listen: "127.0.0.1:0" }, world);
    const said = await firstStep;
    const url = outLines.find((line) => line.startsWith("  page"))?.replace("  page     ", "") ?? "";
    const page = await fetch(url);
    const metrics = await (await fetch(new URL("/metrics", url))).text();
    send("SIGINT");

    expect(await running).toBe(0);
    expect(said).toBe("00:00  Everything is healthy and stays so");
    expect(page.status).toBe(200);
    expect(metrics).toMatch(
      /^synclag_up\{protocol="airdrops",variant="multichain",tier="production",chain="base"/m,
    );
    expect(outLines[0]).toMatch(/^Synclag watches 30 chains and 3 protocols at \d+ endpoints/);
    expect([...outLines, ...errLines].join("\n")).not.toContain("deadbeef");
  });
});
