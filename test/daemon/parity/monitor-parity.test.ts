import { describe, expect, it } from "vitest";
import type { Chain, Endpoint, Fleet } from "../../../src/core/model/fleet.ts";
import type { Observation } from "../../../src/core/model/observation.ts";
import type { ParityReading } from "../../../src/core/model/parity.ts";
import type { ParityReport } from "../../../src/core/model/report.ts";
import { Monitor } from "../../../src/daemon/monitor.ts";
import { ParityCounters } from "../../../src/daemon/polling/parity-counters.ts";
import { readSavedChain } from "../../../src/io/state/saved-chain.ts";
import { endpointOf, fleetOf } from "../../budgets/fleet-builder.ts";
import { BASE, headAt, T0 } from "../../core/chain/chain-fixture.ts";

const MINUTE = 60_000;
const EVERY = { probe: "rows", everyMs: MINUTE } as const;

describe("Monitor with parity", () => {
  it("says what is equal, and what differs since when and by how much", () => {
    const watch = new Watch(fleetWith("a", "b"));

    watch.run(2, { a: 7, b: 7 });
    expect(watch.parity()).toMatchObject([
      { result: "equal", compared: { value: "7", againstValue: "7", difference: 0 }, odd: null },
    ]);

    watch.run(3, { a: 9, b: 7 });
    expect(watch.parity()).toMatchObject([
      {
        probe: "rows",
        target: { variant: "b" },
        against: { variant: "a" },
        result: "different",
        compared: { value: "7", againstValue: "9", difference: 2 },
        sinceMs: watch.nowMs - 2 * MINUTE,
        lastComparisonMs: watch.nowMs,
        odd: null,
        latest: { target: { value: "7" }, against: { value: "9" } },
      },
    ]);
    expect(watch.parity()[0]?.detail).toMatch(
      /^differs from a for 2 min: 7 here and 9 there at block [\d,]+; nothing shows which of the two is wrong$/,
    );
  });

  it("names the odd one out of three, and never prefers it", () => {
    const watch = new Watch(fleetWith("a", "b", "c"));
    watch.run(2, { a: 7, b: 7, c: 7 });
    expect(watch.preferred()).toEqual(["a"]);

    watch.run(3, { a: 6, b: 7, c: 7 });

    expect(watch.parity().map(({ odd, result }) => [result, odd])).toEqual([
      ["different", "against"],
      ["different", "against"],
      ["equal", null],
    ]);
    expect(watch.parity()[0]?.detail).toContain("a is the odd one out, 2 others agree");
    expect(watch.preferred()).toEqual(["b"]);
  });

  it("says nothing of a target that is failed, and says why", () => {
    const watch = new Watch(fleetWith("a", "b"));
    watch.run(4, { a: 9, b: 7 });
    expect(watch.parity()).toMatchObject([{ result: "different" }]);

    watch.run(4, { a: 9, b: 7 }, { indexingErrors: "b" });

    expect(watch.parity()).toMatchObject([
      { result: "unknown", compared: null, detail: "not known to be equal to a: b is failed" },
    ]);
  });

  it("goes on where the previous process ended, and a reload keeps what is asked in the same way", () => {
    const fleet = fleetWith("a", "b");
    const before = new Watch(fleet);
    before.run(3, { a: 9, b: 7 });
    const saved: unknown = JSON.parse(JSON.stringify(before.monitor.save().chains["base"]));

    const after = new Watch(fleet, before.nowMs);
    after.monitor.restore(new Map([["base", readSavedChain(saved)]]), []);
    expect(after.parity()).toMatchObject([{ result: "different" }]);
    after.monitor.watch(fleetWith("a", "b"));
    expect(after.parity()).toMatchObject([{ result: "different" }]);
    after.monitor.watch(fleetWith("a", "b", { select: "other { n }" }));

    expect(after.parity()).toMatchObject([
      { result: "unknown", detail: expect.stringContaining("was not read yet") },
    ]);
  });

  it("refuses a saved state that cannot be one", () => {
    const watch = new Watch(fleetWith("a", "b"));
    watch.run(2, { a: 7, b: 7 });
    const { parity, ...rest } = watch.monitor.save().chains["base"] ?? {};

    expect(() => readSavedChain({ ...rest, parity: { ...parity, pairs: [{}] } })).toThrow("pairs");
    expect(() =>
      readSavedChain({
        ...rest,
        parity: {
          ...parity,
          sources: parity?.sources.map((one) => ({ ...one, runs: [...one.runs, ...one.runs] })),
        },
      }),
    ).toThrow("ascend");
  });

  it("becomes unknown once nothing was compared for three intervals", () => {
    const watch = new Watch(fleetWith("a", "b"));
    watch.run(3, { a: 9, b: 7 });

    watch.wait(6 * MINUTE);

    expect(watch.parity()).toMatchObject([{ result: "unknown", compared: null, lastComparisonMs: null }]);
  });

  it("has nothing where no parity is configured", () => {
    const watch = new Watch({ ...fleetWith("a", "b"), parity: [] });
    watch.run(2, { a: 9, b: 7 });

    expect(watch.parity()).toEqual([]);
    expect(watch.monitor.save().chains["base"]).not.toHaveProperty("parity");
  });
});

describe("ParityCounters", () => {
  it("counts failures by target and probe, and keeps those of what a reload leaves", () => {
    const counters = new ParityCounters();
    const fleet = fleetWith("a", "b");
    const failed = readingOf("a", { kind: "failed", detail: "no such field" });
    counters.watch(fleet);

    counters.count([
      failed,
      failed,
      readingOf("gone", { kind: "failed", detail: "" }),
      rowsOf("a", { block: 100, rows: 7 }),
    ]);
    counters.watch(fleetWith("a", "b", "c"));

    expect(counters.all().map(({ target, probe, failures }) => [target.variant, probe, failures])).toEqual([
      ["a", "rows", 2],
      ["b", "rows", 0],
      ["c", "rows", 0],
    ]);
  });
});

/** A chain whose variants are read once a minute, at one height. */
class Watch {
  readonly monitor: Monitor;
  nowMs: number;

  constructor(fleet: Fleet, startMs = T0) {
    this.nowMs = startMs;
    this.monitor = new Monitor(fleet, { nowMs: () => this.nowMs, budgets: () => [] });
  }

  run(
    minutes: number,
    values: Readonly<Record<string, number>>,
    said: { readonly indexingErrors?: string } = {},
  ): void {
    for (let minute = 0; minute < minutes; minute += 1) {
      this.nowMs += MINUTE;
      const block = 1_000_000 + (this.nowMs - T0) / 2_000;
      const heads = Object.keys(values).map(
        (variant): Observation =>
          headAt(keyOf(variant), this.nowMs - 50, { block, indexingErrors: said.indexingErrors === variant }),
      );
      this.monitor.observe(heads);
      this.monitor.observeParity(
        Object.entries(values).map(([variant, value]) => rowsOf(variant, { block, rows: value }, this.nowMs)),
      );
    }
  }

  wait(ms: number): void {
    this.nowMs += ms;
  }

  parity(): readonly ParityReport[] {
    return this.monitor.report().chains[0]?.parity ?? [];
  }

  preferred(): readonly string[] {
    const targets = this.monitor.report().chains[0]?.targets ?? [];
    return targets.filter(({ preferred }) => preferred).map(({ target }) => target.variant);
  }
}

function fleetWith(...variants: readonly (string | { readonly select: string })[]): Fleet {
  const names = variants.filter((one) => typeof one === "string");
  const select = variants.find((one) => typeof one !== "string")?.select ?? "rows { n }";
  const chain: Chain = BASE;
  const endpoints = names.map((variant): Endpoint => {
    const selections = [{ target: keyOf(variant), select, value: ["rows", "n"] }];
    return { ...endpointOf({ variant }), parity: [{ ...EVERY, selections }] };
  });
  const parity = [
    { name: "rows", protocol: "airdrops", everyMs: MINUTE, chains: [chain.slug], variants: names },
  ];
  return { ...fleetOf(endpoints), chains: [chain], parity };
}

function keyOf(variant: string): string {
  return `airdrops/${variant}/production/base`;
}

function rowsOf(
  variant: string,
  said: { readonly block: number; readonly rows: number },
  atMs = T0,
): ParityReading {
  const value = { text: `${said.rows}`, isNumber: true };
  return readingOf(variant, { kind: "value", block: said.block, value }, atMs);
}

type Said =
  | { readonly kind: "failed"; readonly detail: string }
  | Pick<Extract<ParityReading, { kind: "value" }>, "kind" | "block" | "value">;

function readingOf(variant: string, said: Said, atMs = T0): ParityReading {
  return { probe: "rows", target: keyOf(variant), sentAtMs: atMs - 100, receivedAtMs: atMs, ...said };
}
