import { describe, expect, it } from "vitest";
import { NEW_CLOCK } from "../../../src/core/head/chain-clock.ts";
import type { HeadState } from "../../../src/core/head/choose-head.ts";
import { NO_CONSENSUS } from "../../../src/core/head/consensus.ts";
import type { FailureReason } from "../../../src/core/model/observation.ts";
import { detailOf, type Facts } from "../../../src/core/report/detail.ts";
import { newSource, type SourceState } from "../../../src/core/source/source-state.ts";
import type { ChainViewAt } from "../../../src/core/status/view.ts";
import { BASE, T0 } from "../chain/chain-fixture.ts";

const TIMES = { sentAtMs: T0, receivedAtMs: T0 };
const MINUTE_MS = 60_000;

const REFERENCE: HeadState = {
  block: 2_000,
  reachedMs: T0,
  atMs: T0,
  slackMs: 0,
  freshUntilMs: T0 + 5 * MINUTE_MS,
};
const VIEW: ChainViewAt = {
  nowMs: T0,
  thresholds: BASE.thresholds,
  clock: NEW_CLOCK,
  intervalMs: 2_000,
  measuredIntervalMs: null,
  pace: { intervalMs: 2_000, measured: true },
  reference: REFERENCE,
  consensus: { ...NO_CONSENSUS, head: REFERENCE, members: ["a", "b", "c"] },
  dispute: null,
  hasSingleSource: false,
  haltedAt: null,
  independent: false,
};
const LAG = { blocks: 1_200, ms: 40 * MINUTE_MS, extrapolated: false };
const BEHIND = "40 min (1,200 blocks) behind the reference seen by 3 sources";

function stateOf(changed: Partial<SourceState> = {}): SourceState {
  return {
    ...newSource({ key: "a", kind: "indexer", pollIntervalMs: 15_000 }),
    last: { kind: "head", ...TIMES },
    samples: [{ block: 800, timestampSec: null, hash: null, ...TIMES }],
    peak: { block: 800, atMs: T0 },
    ...changed,
  };
}

function failed(reason: FailureReason, detail = ""): Partial<SourceState> {
  return { last: { kind: "failed", reason, detail, ...TIMES } };
}

function detail(
  status: Facts["status"],
  changed: Partial<SourceState> = {},
  known: { readonly view?: Partial<ChainViewAt>; readonly lag?: Facts["lag"] } = {},
): string {
  const { lag = LAG } = known;
  return detailOf({ status, state: stateOf(changed), view: { ...VIEW, ...known.view }, lag });
}

describe("detailOf()", () => {
  it.each([
    {
      status: "rejected",
      state: failed("unauthorized", "HTTP 401"),
      text: "our key is missing, wrong or unpaid: unauthorized (HTTP 401)",
    },
    {
      status: "throttled",
      state: failed("budget"),
      text: "polled too often, or our budget is spent: budget",
    },
    {
      status: "not_found",
      state: failed("not_found", "HTTP 404"),
      text: "no such subgraph or deployment: not_found (HTTP 404)",
    },
    {
      status: "unreachable",
      state: failed("timeout", "after 10 s"),
      text: "no usable answer: timeout (after 10 s)",
    },
    {
      status: "unreachable",
      state: { ...failed("dns"), lastSuccessMs: T0 - 5 * MINUTE_MS },
      text: "no usable answer: dns; last height 5 min ago",
    },
    {
      status: "unreachable",
      state: {},
      text: "no usable answer; the last poll returned a height",
    },
    {
      status: "missing",
      state: { last: { kind: "missing", ...TIMES }, lastSuccessMs: T0 + 1_000 },
      text: "the answer lacks this chain, though it is expected there; last height 0 s ago",
    },
    {
      status: "failed",
      state: failed("indexing_error", "bad block"),
      text: "the indexer reports a failed deployment: indexing_error (bad block)",
    },
    {
      status: "failed",
      state: {
        indexingErrors: true,
        last: { kind: "head", failure: "failed at block 403 in handleBlock: no", ...TIMES },
      },
      text: `the indexer reports a failed deployment: failed at block 403 in handleBlock: no; it is ${BEHIND}`,
    },
    {
      status: "failed",
      state: { indexingErrors: true },
      text: `the indexer reports indexing errors, and is ${BEHIND}`,
    },
    {
      status: "failed",
      state: failed("connect", "the host refuses the connection"),
      text: "the indexer reports a failed deployment; the last poll failed: connect (the host refuses the connection)",
    },
    {
      status: "failed",
      state: { ...failed("timeout", "after 10 s"), indexingErrors: true },
      text: `the indexer reports indexing errors, and is ${BEHIND}; the last poll failed: timeout (after 10 s)`,
    },
    {
      status: "failed",
      state: { indexingErrors: false },
      text: "the indexer reports a failed deployment; the last poll returned a height",
    },
    {
      status: "throttled",
      state: { ...failed("connect"), lastSuccessMs: T0 - 5 * MINUTE_MS },
      text: "polled too often, or our budget is spent; last height 5 min ago; the last poll failed: connect",
    },
    {
      status: "rejected",
      state: failed("dns"),
      text: "our key is missing, wrong or unpaid; the last poll failed: dns",
    },
    {
      status: "unreachable",
      state: failed("unauthorized"),
      text: "no usable answer; the last poll failed: unauthorized",
    },
    {
      status: "missing",
      state: failed("connect"),
      text: "the answer lacks this chain, though it is expected there; the last poll failed: connect",
    },
    {
      status: "ok",
      state: { last: { kind: "missing", ...TIMES } },
      text: `advances, ${BEHIND}; the last answer lacked this chain`,
    },
    {
      status: "ok",
      state: { last: { kind: "not_started", ...TIMES } },
      text: `advances, ${BEHIND}; the last answer said that indexing has not started`,
    },
    {
      status: "syncing",
      state: { ...failed("connect"), samples: [] },
      text: "has not started indexing yet; the last poll failed: connect",
    },
    {
      status: "diverged",
      state: failed("connect"),
      text: "answers for another chain or fork: its last heights did not fit, the next poll decides; the last poll failed: connect",
    },
    {
      status: "diverged",
      state: failed("implausible", "block 0"),
      text: "answers for another chain or fork: implausible (block 0)",
    },
    {
      status: "diverged",
      state: {},
      text: "answers for another chain or fork: its last heights did not fit, the next poll decides",
    },
    {
      status: "chain_halted",
      state: {},
      text: `the chain itself stands still, as an independent RPC node shows; this target is ${BEHIND}`,
    },
    {
      status: "syncing",
      state: { last: { kind: "not_started", ...TIMES } },
      text: "has not started indexing yet",
    },
    { status: "syncing", state: {}, text: `catching up, ${BEHIND}` },
    { status: "lagging", state: {}, text: `advances, ${BEHIND}` },
    {
      status: "lagging",
      state: { peak: { block: 800, atMs: T0 - MINUTE_MS / 2 } },
      text: `advances, ${BEHIND}`,
    },
    {
      status: "lagging",
      state: { peak: { block: 800, atMs: T0 - MINUTE_MS / 2 - 1 } },
      text: `has not advanced for 30 s, ${BEHIND}`,
    },
    {
      status: "lagging",
      state: { peak: { block: 800, atMs: T0 - 2 * MINUTE_MS } },
      text: `has not advanced for 2 min, ${BEHIND}`,
    },
    {
      status: "ok",
      state: failed("timeout", "after 10 s"),
      text: `advances, ${BEHIND}; the last poll failed: timeout (after 10 s)`,
    },
    { status: "unknown", state: { last: null }, text: "not polled yet" },
  ] as const)("says of $status: $text", ({ status, state, text }) => {
    expect(detail(status, state)).toBe(text);
  });

  it("tells the age of an answer that is too old, and not how it failed", () => {
    expect(detail("unknown", failed("timeout"), { view: { nowMs: T0 + 20 * MINUTE_MS } })).toBe(
      "the last answer is 20 min old, too old to be evidence",
    );
  });

  it.each([
    { agoMs: 5 * MINUTE_MS, text: "its first height is behind or contradicts the others, and" },
    { agoMs: 5 * MINUTE_MS + 1, text: "the last answer is 5 min old, too old to be evidence" },
  ])("says why a height that is $agoMs ms old has not been judged: $text", ({ agoMs, text }) => {
    expect(detail("unknown", {}, { view: { nowMs: T0 + agoMs } })).toContain(text);
  });

  it.each([
    { case: "level", lag: { blocks: 0, ms: 0, extrapolated: false }, text: "level with" },
    { case: "of unknown time", lag: { ...LAG, ms: null }, text: "1,200 blocks behind" },
    { case: "extrapolated", lag: { ...LAG, extrapolated: true }, text: "about 40 min (1,200 blocks) behind" },
  ])("words a lag that is $case", ({ lag, text }) => {
    expect(detail("ok", {}, { lag })).toBe(`advances, ${text} the reference seen by 3 sources`);
  });

  it("says against what the lag is measured where there is no reference, and why", () => {
    const alone = { reference: null, hasSingleSource: true };
    const byClock = { blocks: null, ms: 5 * MINUTE_MS, extrapolated: false };

    expect(detail("ok", {}, { view: alone, lag: byClock })).toBe(
      "advances, 5 min behind, measured against the clock: its chain has a single source",
    );
    expect(detail("ok", {}, { view: { reference: null }, lag: byClock })).toBe(
      "advances, 5 min behind, measured against the clock: its chain has too few sources that agree on a head",
    );
    expect(detail("ok", {}, { view: alone, lag: null })).toBe(
      "advances, lag unknown: its chain has a single source, without block times",
    );
    expect(detail("ok", {}, { lag: null })).toBe("advances, lag unknown");
  });
});

describe("detailOf() a target that stands still", () => {
  const stands = { peak: { block: 800, atMs: T0 - 20 * MINUTE_MS } };
  const still = "has not advanced for 20 min";

  it.each([
    { case: "for less than half of that time", movedMinutesAgo: 9, text: `while its chain does, ${BEHIND}` },
    { case: "for half of that time", movedMinutesAgo: 10, text: "nor has any other source: without an" },
    { case: "for longer", movedMinutesAgo: 20, text: "nor has any other source: without an" },
  ])("says what the chain does that has not moved $case", ({ movedMinutesAgo, text }) => {
    const reference = { ...REFERENCE, reachedMs: T0 - movedMinutesAgo * MINUTE_MS };

    expect(detail("stalled", stands, { view: { reference } })).toContain(text);
  });

  it("leaves the chain aside where there is no reference", () => {
    expect(detail("stalled", stands, { view: { reference: null } })).toBe(
      `${still}, nor has any other source: without an independent head it is unknown whether the chain itself has halted`,
    );
  });

  it("believes an RPC node that the chain goes on", () => {
    const view = { reference: null, independent: true };

    expect(detail("stalled", stands, { view })).toBe(`${still}, nor has any other source`);
  });
});

describe("detailOf() a target that the others contradict", () => {
  const by = ["airdrops/multichain/production/base", "lockup/multichain/production/base", "rpc/base/0"];
  const opposition = { source: "a", by, block: 300_000_604, blocks: 560, offMs: null };

  it.each([
    {
      kind: "ahead",
      blocks: 560,
      text: "claims block 300,000,604, 560 beyond what multichain and an RPC node agree on",
    },
    {
      kind: "ahead",
      blocks: -560,
      text: "claims block 300,000,604 to be new, 560 below what multichain and an RPC node agree on",
    },
    {
      kind: "hash",
      blocks: 0,
      text: "its hash of block 300,000,604 is not that of multichain and an RPC node",
    },
    {
      kind: "times",
      blocks: 0,
      text: "its time of block 300,000,604 contradicts multichain and an RPC node",
    },
  ] as const)("says `$text`", ({ kind, blocks, text }) => {
    const consensus = { ...VIEW.consensus, opposed: [{ ...opposition, kind, blocks }] };

    expect(detail("diverged", {}, { view: { consensus } })).toBe(
      `answers for another chain or fork: ${text}`,
    );
  });

  it("says by how much its block time is off", () => {
    const consensus = {
      ...VIEW.consensus,
      opposed: [{ ...opposition, kind: "times", offMs: 600_000 } as const],
    };

    expect(detail("diverged", {}, { view: { consensus } })).toContain(
      "contradicts multichain and an RPC node by 10 min",
    );
  });
});

describe("a detail where nothing is decided", () => {
  const [A, B, C] = [
    "airdrops/multichain/production/base",
    "airdrops/subgraph/production/base",
    "lockup/multichain/production/base",
  ] as const;
  const decide = "and as many stand on each side; an RPC node (`rpc`) or one more variant would decide it";

  it.each([
    {
      sides: [[A], [B]],
      off: { blocks: 899_900, offMs: null },
      text: `multichain (block 1,899,900) and subgraph (block 1,000,000) contradict each other, 899,900 blocks apart, ${decide}`,
    },
    {
      sides: [[A], [C]],
      off: { blocks: 1, offMs: 3 * 60 * MINUTE_MS },
      text: `airdrops multichain (block 1,000,001) and lockup multichain (block 1,000,000) contradict each other by 3 h of block time, 1 block apart, ${decide}`,
    },
    {
      sides: [
        [A, C],
        [B, "rpc/base/0"],
      ],
      off: { blocks: 0, offMs: null },
      text: `multichain (block 1,000,000) and subgraph and an RPC node (block 1,000,000) contradict each other, at one height, ${decide}`,
    },
  ])("says `$text`", ({ sides, off, text }) => {
    const dispute = {
      ...off,
      sides: sides.map((sources, index) => ({
        sources,
        block: 1_000_000 + (index === 0 ? off.blocks : 0),
      })),
    };

    const byClock = { blocks: null, ms: 60 * MINUTE_MS, extrapolated: false };

    expect(detail("ok", {}, { view: { reference: null, dispute }, lag: null })).toBe(
      `advances, no reference: ${text}`,
    );
    expect(detail("lagging", {}, { view: { reference: null, dispute }, lag: byClock })).toBe(
      `advances, 60 min behind, measured against the clock: no reference: ${text}`,
    );
  });
});
