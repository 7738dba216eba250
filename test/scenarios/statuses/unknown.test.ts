import { describe, expect, it } from "vitest";
import { isoTime } from "../../../src/core/model/text.ts";
import { ScriptedFleet } from "../../support/scripted-fleet.ts";
import { behind } from "../../support/scripted-reply.ts";
import { fleetYaml, TRIO } from "./fleets.ts";

const FAR = 100_000;

describe("`unknown`", () => {
  it("holds before the first poll, and nothing is derived", () => {
    const play = new ScriptedFleet(TRIO);

    expect(play.target("multichain")).toMatchObject({
      status: "unknown",
      reason: null,
      up: false,
      block_number: null,
      last_success: null,
      last_advance: null,
      detail: "not polled yet",
    });
    expect(play.values("synclag_status", "multichain", "unknown")).toEqual([1]);
    expect(play.values("synclag_block_number")).toEqual([]);
    expect(play.values("synclag_lag_seconds")).toEqual([]);
  });

  it("begins when the last answer is older than `stale`, without a height, a lag or a gap", () => {
    const play = new ScriptedFleet(TRIO).run("10m").script("subgraph", () => null);

    expect(play.run("5m").target("subgraph").status).toBe("ok");
    expect(play.run("15s").target("subgraph").status).toBe("unknown");

    play.run("45s");
    const { last_success, ...target } = play.target("subgraph");
    expect(target).toMatchObject({
      up: true,
      block_number: null,
      lag_blocks: null,
      lag_seconds: null,
      preferred: false,
      detail: "the last answer is 6 min old, too old to be evidence",
    });
    expect(last_success).toBe(isoTime(play.nowMs - 6 * 60_000));
    expect(play.chain().gaps.map((gap) => gap.variant)).toEqual(["mirror"]);
    expect(play.values("synclag_up", "subgraph")).toEqual([1]);
    expect(play.values("synclag_block_number", "subgraph")).toEqual([]);
    expect(play.values("synclag_lag_seconds", "subgraph")).toEqual([]);
    expect(play.page()).toContain("No action needed: 2 of 3 targets ok, 1 without data");
    expect(play.page("base")).toContain("the last answer is 6 min old, too old to be evidence");
  });

  it("begins after three polls where these are longer than `stale`", () => {
    const play = new ScriptedFleet(
      fleetYaml(["multichain", "subgraph"], { schedules: { subgraph: "0 */10 * * * *" } }),
    );
    play.run("30m").script("subgraph", () => null);

    expect(play.run("30m").target("subgraph").status).toBe("ok");
    expect(play.run("15s").target("subgraph").status).toBe("unknown");
  });

  it("does not hide the failure of the last poll once the evidence is stale", () => {
    const play = new ScriptedFleet(TRIO).run("10m").poll("multichain", "tls");
    play.script("multichain", () => null);

    expect(play.run("5m").target("multichain").status).toBe("ok");
    expect(play.run("15s").target("multichain").status).toBe("unreachable");
    expect(play.target("multichain")).toMatchObject({ reason: "tls", block_number: null });
  });

  it("says once how the only poll failed", () => {
    const play = new ScriptedFleet(TRIO).wait("1s").poll("subgraph").poll("multichain", "implausible");

    expect(play.target("multichain").detail).toBe("the last poll failed: implausible");
  });

  it("holds for a first height that is far behind until every other source has been polled", () => {
    const play = new ScriptedFleet(TRIO);
    play
      .wait("1s")
      .poll("multichain")
      .wait("1s")
      .poll("subgraph", play.head() - FAR);

    const before = play.target("subgraph");
    play.wait("1s").poll("mirror", "timeout");

    expect(before).toMatchObject({ status: "unknown", up: true });
    expect(before.detail).toBe(
      "its first height is behind or contradicts the others, and its chain's other sources have not all been polled yet",
    );
    expect(play.target("subgraph").status).toBe("lagging");
  });

  it("holds for a first height that is far behind until most of the chain's providers agree", () => {
    const play = new ScriptedFleet(fleetYaml(["a", "b", "c", "d", "e"]));
    play.wait("1s").poll("a").poll("b");
    play.poll("c", play.head() - FAR);

    const before = play.target("c").status;
    play.wait("1s").poll("d");

    expect([before, play.target("c").status]).toEqual(["unknown", "lagging"]);
  });

  it("does not hold for a second height, whoever has not been polled by then", () => {
    const play = new ScriptedFleet(TRIO).script("mirror", () => null).script("subgraph", behind(FAR));

    expect(play.changes("subgraph", "1m")).toEqual(["15s lagging"]);
  });

  it("holds for a target with a height where a first poll of another kind had failed, until that is judged", () => {
    const play = new ScriptedFleet(TRIO);
    play.wait("1s").poll("multichain").poll("subgraph", "not_found");

    const before = play.target("subgraph").status;
    play.wait("15s").poll("subgraph", play.head() - FAR);

    expect([before, play.target("subgraph").status]).toEqual(["not_found", "lagging"]);
  });

  it("holds for a target that is not reached at first, while nobody has answered and others have not been polled", () => {
    const play = new ScriptedFleet(TRIO).wait("1s").poll("multichain", "connect");

    const before = play.target("multichain").status;
    play.wait("1s").poll("mirror");

    expect([before, play.target("multichain").status]).toEqual(["unknown", "unreachable"]);
  });

  it("holds for everything while nothing at all can be reached, and an incident says so", () => {
    const play = new ScriptedFleet(TRIO).run("10m").script("airdrops", () => "connect");

    expect(play.changes("multichain", "5m")).toEqual(["30s unknown"]);

    expect(play.statuses()).toEqual(["unknown", "unknown", "unknown"]);
    expect(play.report().incidents.map(({ scope }) => scope)).toEqual(["network"]);
    play.script("airdrops", behind(0));
    expect(play.changes("multichain", "1m")).toEqual(["15s ok"]);
    expect(play.report().incidents).toEqual([]);
  });

  it("does not hold where a single host can be reached no more", () => {
    const play = new ScriptedFleet(TRIO).run("10m").script("multichain", () => "connect");

    expect(play.changes("multichain", "2m")).toEqual(["30s unreachable"]);
  });
});
