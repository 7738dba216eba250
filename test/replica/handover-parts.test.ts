import { describe, expect, it } from "vitest";
import type { Handover } from "../../src/daemon/handover.ts";
import { Monitor } from "../../src/daemon/monitor.ts";
import { PollCounters } from "../../src/daemon/polling/counters.ts";
import { partsOf, readParts } from "../../src/replica/handover-parts.ts";
import { headAt } from "../core/chain/chain-fixture.ts";
import { configOf } from "../support/running-app.ts";

const NOW_MS = Date.UTC(2026, 10, 20, 12);
const TARGET = "airdrops/subgraph/production/base";
const { fleet } = configOf(`
version: 1
chains:
  base: { id: 8453, block_time: 2s }
protocols:
  airdrops:
    - { variant: subgraph, dialect: graph, url: "http://127.0.0.1:9/{chain}", chains: [base] }
`);

describe("readParts()", () => {
  it("gives another replica the state, the counters and the queries", () => {
    const { handover, monitor } = setUp();

    const learned = readParts(read(handover), 0);

    expect(learned.invalid).toEqual([]);
    expect(learned.questions).toEqual(new Map([["digest", 2]]));
    expect(learned.counters.get("airdrops/subgraph/production")).toMatchObject({ requests: { [TARGET]: 1 } });
    expect(learned.parityFailures).toEqual(new Map([["campaigns x", 3]]));
    const other = new Monitor(fleet, { nowMs: () => NOW_MS, budgets: () => [] });
    other.restore(learned.chains, learned.incidents ?? []);
    expect(other.report()).toEqual(monitor.report());
  });

  it("sets instants to the own clock, where the leader's is half a minute ahead or behind", () => {
    const { handover, monitor } = setUp();
    const before = monitor.report().chains[0]?.targets[0];

    for (const aheadMs of [30_000, -30_000]) {
      const learned = readParts(read(handover), aheadMs);
      const other = new Monitor(fleet, { nowMs: () => NOW_MS - aheadMs, budgets: () => [] });
      other.restore(learned.chains, learned.incidents ?? []);
      const target = other.report().chains[0]?.targets[0];
      expect(target?.lastSuccessMs).toBe((before?.lastSuccessMs ?? 0) - aheadMs);
      expect(target?.status).toBe(before?.status);
    }
  });

  it("leaves out what it cannot read, and names it", () => {
    const parts = [
      { name: "chain base", text: "{" },
      { name: "counters airdrops/subgraph/production", text: "[]" },
      { name: "a later version's", text: "{}" },
    ];

    const learned = readParts(parts, 0);

    expect(learned).toMatchObject({ incidents: null, questions: null });
    expect(learned.chains.size + learned.counters.size).toBe(0);
    expect(learned.invalid).toEqual(["chain base", "counters airdrops/subgraph/production"]);
  });
});

describe("partsOf()", () => {
  it("has another version of a part only where it has changed", () => {
    const { handover, observe, handoverNow } = setUp();
    const before = new Map(partsOf(handover).map(({ name, version }) => [name, version]));

    observe();
    const changed = partsOf(handoverNow()).filter(({ name, version }) => before.get(name) !== version);

    expect(changed.map(({ name }) => name)).toEqual(["chain base"]);
  });
});

function setUp() {
  const monitor = new Monitor(fleet, { nowMs: () => NOW_MS, budgets: () => [] });
  const counters = new PollCounters();
  counters.watch(fleet);
  for (const endpoint of fleet.indexers.flatMap(({ endpoints }) => endpoints)) {
    counters.countRequest(endpoint, 40);
  }
  const observe = (block = 38_000_000): void => {
    monitor.observe([headAt(TARGET, NOW_MS - 1_000, { block })]);
  };
  const parityFailures = new Map([["campaigns x", 3]]);
  const handoverNow = (): Handover => ({
    ...monitor.save(),
    questions: { revision: 1, save: () => ({ digest: 2 }) },
    counters: counters.groups(),
    parityFailures,
  });
  observe();
  return { monitor, observe: () => observe(38_000_001), handover: handoverNow(), handoverNow };
}

function read(handover: Handover) {
  return partsOf(handover).map(({ name, text }) => ({ name, text: text() }));
}
