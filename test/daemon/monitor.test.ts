import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { endpointsOf, sourceKeysOf } from "../../src/core/model/fleet.ts";
import type { Observation } from "../../src/core/model/observation.ts";
import { type Consequences, Monitor } from "../../src/daemon/monitor.ts";
import { fleetYaml } from "../scenarios/statuses/fleets.ts";
import { TIMES } from "../support/fast-check-seed.ts";
import { configOf } from "../support/running-app.ts";

const { fleet } = configOf(fleetYaml(["multichain", "subgraph", "mirror"], { rpc: 1 }));
const ENDPOINTS = endpointsOf(fleet);
const KEYS = ENDPOINTS.flatMap(sourceKeysOf);
const T0 = Date.parse("2026-11-20T03:00:00Z");
const MINUTES = 10;

/** The reply of the source in each minute. */
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
  it("does not change when it is read, however often and whenever that happens", async () => {
    await fc.assert(
      fc.asyncProperty(fc.tuple(...KEYS.map(() => SCRIPT)), READS, async (scripts, reads) => {
        const unread = await play(scripts, []);
        const read = await play(scripts, reads);
        expect(read).toEqual(unread);
      }),
      { numRuns: 5 * TIMES },
    );
  });

  it.each([
    { name: "set forward", setMs: 3_600_000, laterMs: 3_600_000 },
    { name: "set back", setMs: -3_600_000, laterMs: -3_600_000 },
    { name: "ahead until the restart", setMs: 3_600_000, laterMs: 0 },
  ])("continues after a restart with the times of a wall clock that was $name", ({ laterMs, setMs }) => {
    const clock = { second: 0, setMs: 0 };
    const wallMs = () => T0 + clock.second * 1_000 + clock.setMs;
    const start = () =>
      new Monitor(fleet, { nowMs: wallMs, uptimeMs: () => clock.second * 1_000, budgets: () => [] });
    const first = start();
    const okFor = (monitor: Monitor) => {
      const { generated_at, targets } = monitor.decideIncidents();
      const ages = targets.map(({ last_success, since }) =>
        [since, last_success].map((time) => Date.parse(generated_at) - Date.parse(time ?? "")),
      );
      return { generated_at, ages };
    };
    const poll = (seconds: number) => {
      for (; clock.second < seconds; clock.second += 15) {
        const times = { sentAtMs: wallMs() - 200, receivedAtMs: wallMs() };
        first.observe(KEYS.map((key) => ({ ...observationOf(key, [], clock.second), ...times })));
        first.tick();
      }
    };

    poll(300);
    clock.setMs = setMs;
    poll(600);
    const before = okFor(first);
    clock.setMs = laterMs;
    const second = start();
    second.restore(JSON.parse(JSON.stringify(first.save())) as ReturnType<Monitor["save"]>);
    const after = okFor(second);

    expect(after.generated_at).toBe(new Date(wallMs()).toISOString());
    expect(before.ages).toEqual(KEYS.filter((key) => !key.startsWith("rpc")).map(() => [600_000, 15_000]));
    // After a clock that was ahead, no time is later than now.
    const missedMs = setMs === laterMs ? 0 : 15_000;
    expect(after.ages).toEqual(before.ages.map((ages) => ages.map((ms) => ms - missedMs)));
  });
});

/** The decisions and the saved state of ten minutes, with a jump of our own clock in the middle. */
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
    const consequences = monitor.tick();
    await readAll(monitor, reads[second] ?? []);
    outputs.push(
      plain(consequences),
      second % 15 === 0 || consequences.hasTurned ? monitor.decideIncidents() : null,
    );
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
      ENDPOINTS.map((one) => (read === "evident" ? monitor.hasEvidence(one) : monitor.hasTrouble(one)));
    }
  }
}

function plain({ changing, implausible, ...rest }: Consequences) {
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
