import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { endpointsOf, sourceKeysOf } from "../../src/core/model/fleet.ts";
import type { Observation } from "../../src/core/model/observation.ts";
import { type Followed, Monitor } from "../../src/daemon/monitor.ts";
import { fleetYaml } from "../scenarios/statuses/fleets.ts";
import { TIMES } from "../support/fast-check-seed.ts";
import { configOf } from "../support/running-app.ts";

const { fleet } = configOf(fleetYaml(["multichain", "subgraph", "mirror"], { rpc: 1 }));
const ENDPOINTS = endpointsOf(fleet);
const KEYS = ENDPOINTS.flatMap(sourceKeysOf);
const T0 = Date.parse("2026-11-20T03:00:00Z");
const MINUTES = 10;

/** What the source does in each minute. */
const SCRIPT = fc.array(fc.constantFrom("ok", "frozen", "down", "rogue"), {
  minLength: MINUTES,
  maxLength: MINUTES,
});
/** Reads in each second of a play. */
const READS = fc.array(fc.subarray(["report", "save", "prepare", "evident", "trouble"] as const), {
  minLength: MINUTES * 60,
  maxLength: MINUTES * 60,
});

describe("Monitor", () => {
  it("changes nothing by a read, however often and whenever it is read", async () => {
    await fc.assert(
      fc.asyncProperty(fc.tuple(...KEYS.map(() => SCRIPT)), READS, async (scripts, reads) => {
        const unread = await play(scripts, []);
        const read = await play(scripts, reads);
        expect(read).toEqual(unread);
      }),
      { numRuns: 5 * TIMES },
    );
  });
});

/** All that is decided and saved in ten minutes, with a jump of our own clock in the middle. */
async function play(
  scripts: readonly (readonly string[])[],
  reads: readonly (readonly string[])[],
): Promise<readonly unknown[]> {
  let second = 0;
  const monitor = new Monitor(fleet, {
    nowMs: () => T0 + second * 1_000 + (second > 300 ? 3_600_000 : 0),
    uptimeMs: () => second * 1_000,
    budgets: () => [],
  });
  const outputs: unknown[] = [];
  for (; second < MINUTES * 60; second += 1) {
    const polled = KEYS.filter((_, index) => (second + index * 4) % 15 === 0);
    monitor.observe(polled.map((key) => observationOf(key, scripts[KEYS.indexOf(key)] ?? [], second)));
    await readAll(monitor, reads[second] ?? []);
    const followed = monitor.tick();
    await readAll(monitor, reads[second] ?? []);
    outputs.push(plain(followed), second % 15 === 0 || followed.hasTurned ? monitor.judge() : null);
  }
  return [...outputs, monitor.save(), monitor.report()];
}

async function readAll(monitor: Monitor, reads: readonly string[]): Promise<void> {
  for (const read of reads) {
    if (read === "report") {
      monitor.report();
    } else if (read === "save") {
      monitor.save();
    } else if (read === "prepare") {
      await monitor.prepare();
    } else {
      ENDPOINTS.map((one) => (read === "evident" ? monitor.isEvident(one) : monitor.hasTrouble(one)));
    }
  }
}

function plain({ changing, implausible, ...rest }: Followed) {
  return { ...rest, changing: [...changing], implausible: [...implausible] };
}

function observationOf(source: string, script: readonly string[], second: number): Observation {
  const atMs = T0 + second * 1_000 + (second > 300 ? 3_600_000 : 0);
  const times = { source, sentAtMs: atMs - 200, receivedAtMs: atMs };
  const minute = Math.floor(second / 60);
  const does = script[minute];
  if (does === "down") {
    return { ...times, kind: "failed", reason: "connect", detail: "connection refused" };
  }
  const since = does === "frozen" ? minute * 60 : second;
  const block = 1_000_000 + Math.floor(since / 2) + (does === "rogue" ? 5_000_000 : 0);
  const timestampSec = (T0 - (second - since) * 1_000) / 1_000 + second;
  return {
    ...times,
    kind: "head",
    head: { block, timestampSec, hash: null, deployment: null, indexingErrors: null },
  };
}
