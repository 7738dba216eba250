import { describe, expect, it } from "vitest";
import type { FailureReason } from "../../../src/core/model/observation.ts";
import type { Status } from "../../../src/core/model/report.ts";
import { BASE, headOf, Play, type Said, watch } from "./chain-fixture.ts";

const [A, B, C] = ["airdrops/multichain", "airdrops/subgraph", "lockup/multichain"];
const RPC = "rpc/base/0";
const HOUR_TICKS = 240;

/** A is what is tested; B and C are healthy. */
function play(): Play {
  return new Play(watch(BASE, A, B, C));
}

function withA(said: (nowMs: number, index: number) => Said) {
  return ({ nowMs, index }: { readonly nowMs: number; readonly index: number }) => ({
    [A]: said(nowMs, index),
    [B]: headOf(nowMs),
    [C]: headOf(nowMs),
  });
}

const healthy = withA((nowMs) => headOf(nowMs));

function statuses(
  played: Play,
  ticks: number,
  said: (nowMs: number, index: number) => Said,
): readonly Status[] {
  return Array.from(
    { length: ticks },
    (_, index) =>
      played
        .run(
          1,
          withA((nowMs) => said(nowMs, index)),
        )
        .target(A).status,
  );
}

describe("status of a target", () => {
  it("is unknown before the first poll", () => {
    expect(play().target(A)).toMatchObject({
      status: "unknown",
      detail: "not polled yet",
      up: false,
      block: null,
      lastSuccessMs: null,
    });
  });

  it.each<{ readonly reason: FailureReason; readonly status: Status; readonly polls: number }>([
    { reason: "http_status", status: "unreachable", polls: 2 },
    { reason: "timeout", status: "unreachable", polls: 3 },
    { reason: "unauthorized", status: "rejected", polls: 2 },
    { reason: "rate_limited", status: "throttled", polls: 2 },
    { reason: "budget", status: "throttled", polls: 1 },
    { reason: "not_found", status: "not_found", polls: 2 },
    { reason: "indexing_error", status: "failed", polls: 2 },
    { reason: "implausible", status: "diverged", polls: 2 },
  ])("becomes $status after $polls polls that fail with $reason", ({ reason, status, polls }) => {
    const played = play().run(10, healthy);

    const said = statuses(played, 4, () => reason);

    expect(said).toEqual(Array.from({ length: 4 }, (_, index) => (index < polls - 1 ? "ok" : status)));
  });

  it("names the very first failure at once", () => {
    expect(statuses(play(), 1, () => "timeout")).toEqual(["unreachable"]);
  });

  it("says in the detail of a healthy target that its last poll failed, and that it is not up", () => {
    const played = play()
      .run(10, healthy)
      .run(
        1,
        withA(() => "connect"),
      );

    expect(played.target(A)).toMatchObject({
      status: "ok",
      up: false,
      reason: "connect",
      detail: "advances, level with the reference seen by 3 sources; the last poll failed: connect",
    });
  });

  it("keeps the reason of `failed` apart from a poll that fails for another", () => {
    const played = play()
      .run(10, healthy)
      .run(
        3,
        withA(() => "indexing_error"),
      )
      .run(
        1,
        withA(() => "connect"),
      );

    expect(played.target(A)).toMatchObject({
      status: "failed",
      reason: "connect",
      detail: "the indexer reports a failed deployment; the last poll failed: connect",
    });
  });

  it("is itself again with the first height after a failure", () => {
    const played = play()
      .run(10, healthy)
      .run(
        3,
        withA(() => "connect"),
      );

    expect(statuses(played, 1, (nowMs) => headOf(nowMs))).toEqual(["ok"]);
  });

  it("does not change for a poll that was cut off", () => {
    const before = play().run(10, healthy).state;
    const played = play().run(10, healthy);

    const said = statuses(played, 5, () => "aborted");

    expect(said).toEqual(["ok", "ok", "ok", "ok", "ok"]);
    expect(played.state.sources[0]).toMatchObject({ ...before.sources[0], pollIntervalMs: 15_000 });
  });

  it("is `missing` after two answers without the chain", () => {
    const played = play().run(10, healthy);

    expect(statuses(played, 3, () => "missing")).toEqual(["ok", "missing", "missing"]);
    expect(played.target(A).detail).toBe(
      "the answer lacks this chain, though it is expected there; last height 45 s ago",
    );
  });

  it("is `syncing` while nothing has been indexed yet", () => {
    const played = play().run(
      2,
      withA(() => "not_started"),
    );

    expect(played.target(A)).toMatchObject({
      status: "syncing",
      up: false,
      reason: null,
      detail: "has not started indexing yet",
    });
  });

  it("is `failed` while the indexer flags indexing errors", () => {
    const played = play()
      .run(10, healthy)
      .run(
        2,
        withA((nowMs) => ({ block: headOf(nowMs), indexingErrors: true })),
      );

    expect(played.target(A)).toMatchObject({ status: "failed", up: true, indexingErrors: true });
  });

  it("is `lagging` beyond the threshold, with its lag in blocks and in time", () => {
    const played = play().run(
      40,
      withA((nowMs) => headOf(nowMs) - 301),
    );

    expect(played.target(A)).toMatchObject({
      status: "lagging",
      lagBlocks: 301,
      detail: "advances, about 10 min (301 blocks) behind the reference seen by 2 sources",
    });
    expect(played.target(A).lagMs).toBeCloseTo(602_000, -4);
  });

  it("is `ok` just within the threshold", () => {
    const played = play().run(
      40,
      withA((nowMs) => headOf(nowMs) - 298),
    );

    expect(played.target(A)).toMatchObject({ status: "ok", lagBlocks: 298 });
  });

  it.each([
    { polls: 41, status: "ok" },
    { polls: 42, status: "stalled" },
  ] as const)("is $status after $polls polls without advance", ({ polls, status }) => {
    const played = play().run(HOUR_TICKS, healthy);
    const stuck = headOf(played.nowMs);

    played.run(
      polls,
      withA(() => stuck),
    );

    expect(played.target(A).status).toBe(status);
  });

  it("says of a stalled target that its chain goes on", () => {
    const played = play().run(HOUR_TICKS, healthy);
    const stuck = headOf(played.nowMs);

    played.run(
      60,
      withA(() => stuck),
    );

    expect(played.target(A).detail).toBe(
      "has not advanced for 15 min while its chain does, 15 min (450 blocks) behind the reference seen by 2 sources",
    );
  });

  it.each([
    {
      case: "no independent head",
      rpc: null,
      ends: "it is unknown whether the chain itself has halted",
    },
    { case: "an RPC node that has advanced of late", rpc: "slow", ends: "nor has any other source" },
  ])("says that all stand still, with $case", ({ rpc, ends }) => {
    const played = play().run(20, healthy);
    const stuck = headOf(played.nowMs);

    played.run(60, ({ index }) => ({
      [A]: stuck,
      [B]: stuck,
      [C]: stuck,
      ...(rpc === null ? {} : { [RPC]: stuck + Math.floor((index + 35) / 60) }),
    }));

    expect(played.target(A).status).toBe("stalled");
    expect(played.target(A).detail.endsWith(ends)).toBe(true);
  });

  it("is `chain_halted` when an RPC node stands still as well", () => {
    const played = play().run(20, healthy);
    const halted = headOf(played.nowMs);

    played.run(45, () => ({ [A]: halted, [B]: halted, [C]: halted - 40, [RPC]: halted }));

    expect(played.report().targets.map(({ status }) => status)).toEqual([
      "chain_halted",
      "chain_halted",
      "chain_halted",
    ]);
    expect(played.target(A)).toMatchObject({
      lagBlocks: 0,
      lagMs: 0,
      detail:
        "the chain itself stands still, as an independent RPC node shows; this target is level with the reference seen by 3 sources",
    });
  });

  it("knows a halt by the age of the RPC node's block, if it began before we did", () => {
    const said = ({ nowMs }: { readonly nowMs: number }) => ({
      [A]: 1_000_000,
      [B]: 1_000_000,
      [RPC]: { block: 1_000_000, timestampSec: Math.floor((nowMs - 3_600_000) / 1_000) },
    });
    const played = play();
    played.run(1, said);
    const frozen = played.nowMs;

    played.run(3, () => said({ nowMs: frozen }));

    expect(played.target(A).status).toBe("chain_halted");
  });

  it("is unknown once its evidence is stale", () => {
    const played = play().run(10, healthy).wait(300_000);

    expect(played.target(A)).toMatchObject({
      status: "unknown",
      up: true,
      block: null,
      lagBlocks: null,
      lagMs: null,
      detail: "the last answer is 5 min old, too old to be evidence",
    });
    expect(played.target(A).lastSuccessMs).not.toBeNull();
  });

  it("keeps the evidence of three polls where that is longer", () => {
    const [slow] = watch(BASE, A).targets;
    const played = new Play({
      chain: BASE,
      targets: [{ ...(slow as NonNullable<typeof slow>), pollIntervalMs: 600_000 }],
    });
    played.run(3, ({ nowMs }) => ({ [A]: headOf(nowMs) }), 600_000);

    expect(played.wait(1_799_000).target(A).status).toBe("ok");
    expect(played.wait(2_000).target(A).status).toBe("unknown");
  });

  it("names the failure when a failing target's evidence is stale", () => {
    const played = play()
      .run(10, healthy)
      .run(
        1,
        withA(() => "tls"),
      )
      .wait(400_000);

    expect(played.target(A)).toMatchObject({ status: "unreachable", reason: "tls", block: null });
  });

  it("starts from nothing where the evidence for its status had become stale", () => {
    const played = play()
      .run(10, healthy)
      .run(
        5,
        withA(() => "connect"),
      )
      .wait(7_200_000);

    expect(statuses(played, 1, () => "unauthorized")).toEqual(["rejected"]);
  });
});

describe("status of the only source of a chain", () => {
  function alone(ticks: number, said: (nowMs: number) => Said): Play {
    return new Play(watch(BASE, A)).run(ticks, ({ nowMs }) => ({ [A]: said(nowMs) }));
  }

  it("is ok while it advances, without any lag", () => {
    expect(alone(10, (nowMs) => headOf(nowMs)).target(A)).toMatchObject({
      status: "ok",
      lagBlocks: null,
      lagMs: null,
      detail: "advances, lag unknown: its chain has a single source, without block times",
    });
  });

  it("is lagging by the age of its blocks, where it reports timestamps", () => {
    const played = alone(10, (nowMs) => ({
      block: headOf(nowMs),
      timestampSec: Math.floor(nowMs / 1_000) - 3_600,
    }));

    expect(played.target(A)).toMatchObject({
      status: "lagging",
      lagBlocks: null,
      lagMs: 3_598_050,
      detail: "advances, 60 min behind, measured against the clock: its chain has a single source",
    });
  });

  it("is syncing while it goes faster than any chain", () => {
    const played = alone(10, (nowMs) => headOf(nowMs, 4));

    expect(played.target(A)).toMatchObject({ status: "syncing", lagBlocks: null });
  });

  it("is stalled while it does not advance", () => {
    expect(alone(60, () => 1_000_000).target(A)).toMatchObject({ status: "stalled", lagMs: null });
  });
});
