import { describe, expect, it } from "vitest";
import { FAILURE_REASONS } from "../../../src/core/model/observation.ts";
import { createRandom } from "../../../src/sim/model/random.ts";
import { behind, inTurn, type Reply, ScriptedFleet } from "../../support/scripted-fleet.ts";
import { fleetYaml, TRIO } from "./fleets.ts";

/** What `multichain` changes to when it replies this from now on, after ten healthy minutes. */
function changesAfter(reply: Reply, duration = "1m"): readonly string[] {
  return new ScriptedFleet(TRIO)
    .run("10m")
    .script("multichain", () => reply)
    .changes("multichain", duration);
}

describe("a status", () => {
  it("changes after two polls that fail in one way, three that time out, one without budget", () => {
    // A poll that a shutdown cut off is never heard of.
    const reasons = FAILURE_REASONS.filter((reason) => reason !== "aborted");

    const changes = Object.fromEntries(reasons.map((reason) => [reason, changesAfter(reason)]));

    expect(changes).toEqual({
      timeout: ["45s unreachable"],
      dns: ["30s unreachable"],
      connect: ["30s unreachable"],
      tls: ["30s unreachable"],
      http_status: ["30s unreachable"],
      rate_limited: ["30s throttled"],
      unauthorized: ["30s rejected"],
      payment_required: ["30s rejected"],
      not_found: ["30s not_found"],
      no_indexers: ["30s unreachable"],
      indexing_error: ["30s failed"],
      graphql: ["30s unreachable"],
      schema: ["30s not_found"],
      malformed: ["30s unreachable"],
      too_large: ["30s unreachable"],
      implausible: ["30s diverged"],
      wrong_chain: ["30s rejected"],
      budget: ["15s throttled"],
    });
  });

  it("becomes that of the latest poll if the polls disagree", () => {
    const play = new ScriptedFleet(TRIO).run("10m");
    play.script(
      "multichain",
      inTurn(
        () => "unauthorized",
        () => "not_found",
      ),
    );

    expect(play.changes("multichain", "30s")).toEqual(["30s not_found"]);
  });

  it("does not change for single bad polls, however often", () => {
    const play = new ScriptedFleet(TRIO).run("10m").script(
      "multichain",
      inTurn(() => "connect", behind(0)),
    );

    expect(play.statusesDuring("20m")).toEqual(["ok"]);
  });

  it("does not change for two polls in a row that time out", () => {
    const timeout = () => "timeout" as const;
    const play = new ScriptedFleet(TRIO).run("10m");
    play.script("multichain", inTurn(timeout, timeout, behind(0)));

    expect(play.statusesDuring("20m")).toEqual(["ok"]);
  });

  it("names the failed poll in the detail, and is not up, while the status is unchanged", () => {
    const play = new ScriptedFleet(TRIO).run("10m");

    play.wait("15s").poll("multichain", { failed: "http_status", detail: "502" });

    expect(play.target("multichain")).toMatchObject({ status: "ok", up: false, reason: "http_status" });
    expect(play.target("multichain").detail).toMatch(
      /^advances, .*; the last poll failed: http_status \(502\)$/,
    );
    expect(play.values("synclag_up", "multichain")).toEqual([0]);
    expect(play.values("synclag_status", "multichain", "ok")).toEqual([1]);
  });

  it("ends with the first height after there was none, and with the second after an indexing error", () => {
    const ends = (["connect", "unauthorized", "rate_limited", "not_found", "indexing_error"] as const).map(
      (reason) => {
        const play = new ScriptedFleet(TRIO).run("10m").script("multichain", () => reason);
        return play.run("2m").script("multichain", behind(0)).changes("multichain", "2m");
      },
    );

    expect(ends).toEqual([["15s ok"], ["15s ok"], ["15s ok"], ["15s ok"], ["30s ok"]]);
  });

  it("is what the very first poll says", () => {
    const play = new ScriptedFleet(TRIO).script("multichain", () => "timeout");

    expect(play.changes("multichain", "1m")).toEqual(["15s unreachable"]);
  });

  it("is what the first poll says after all evidence had become stale", () => {
    const play = new ScriptedFleet(TRIO)
      .run("10m")
      .script("multichain", () => "connect")
      .run("2m");

    play.wait("2h").poll("multichain", "unauthorized");

    expect(play.target("multichain").status).toBe("rejected");
  });

  it("is decided again when another source reports its first height, if it rests on two heights", () => {
    const play = new ScriptedFleet(TRIO).script("subgraph", behind(-100_000)).script("mirror", () => null);
    const before = play.run("30s").target("multichain").status;

    play.wait("1s").poll("mirror", play.head());

    expect([before, play.target("multichain").status]).toEqual(["lagging", "ok"]);
  });

  it("goes by the highest of the last three heights, because replicas take turns", () => {
    const play = new ScriptedFleet(TRIO)
      .run("10m")
      .script("multichain", inTurn(behind(0), behind(200), behind(150)));

    expect(play.statusesDuring("30m")).toEqual(["ok"]);
    play.run("15s").script("multichain", behind(200)).run("15s");
    expect(play.target("multichain").lag_blocks).toBeLessThanOrEqual(8);
  });

  it("does not change on a lossy network, one poll in eight failing in no order", () => {
    const play = new ScriptedFleet(fleetYaml(["a", "b", "c", "d"], { rpc: 1 })).run("10m");
    const random = createRandom("lossy");
    for (const name of ["a", "b", "c", "d", "rpc"]) {
      let failedLast = false;
      play.script(name, ({ head }) => {
        // Two in a row change a status.
        failedLast = !failedLast && random() < 1 / 8;
        return failedLast ? "connect" : head;
      });
    }

    expect(play.statusesDuring("2h")).toEqual(["ok"]);
  });
});
