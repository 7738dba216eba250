import { describe, expect, it } from "vitest";
import { ScriptedFleet } from "../../support/scripted-fleet.ts";
import { behind, dated } from "../../support/scripted-reply.ts";
import { fleetYaml, TRIO, TRIO_AND_NODE } from "./fleets.ts";

const FAR = 5_000_000;
const DAY_SEC = 86_400;

describe("`diverged`", () => {
  it("takes at most three polls with a height that the others contradict, and ends within three that fit", () => {
    const play = new ScriptedFleet(TRIO_AND_NODE).run("10m").script("multichain", behind(-FAR));

    expect(play.run("45s").target("multichain").status).toBe("diverged");
    expect(play.changes("multichain", "20m")).toEqual([]);
    expect(play.target("multichain").detail).toMatch(
      /^answers for another chain or fork: .*claims block 6,\d{3},\d{3}, 5,000,\d{3} beyond what .* agree on/,
    );
    expect(play.page()).toContain(
      "1 of 3 targets needs attention: airdrops multichain, on another chain or fork",
    );
    expect(play.check("airdrops/base/multichain").exitCode).toBe(2);
    play.script("multichain", behind(0)).run("45s");
    expect(play.target("multichain").status).toBe("ok");
    expect(play.changes("multichain", "10m")).toEqual([]);
    expect(play.target("multichain")).toMatchObject({ up: true, lag_blocks: 0, regressions: { reindex: 0 } });
  });

  it.each([
    { case: "in the first poll that claims it", run: "15s" },
    { case: "after many polls", run: "10m" },
  ])("neither shows nor exports an impossible height, $case", ({ run }) => {
    const play = new ScriptedFleet(TRIO_AND_NODE).run("10m").script("multichain", behind(-FAR));

    play.run(run);

    expect(play.target("multichain")).toMatchObject({
      reason: "implausible",
      up: false,
      block_number: null,
      block_timestamp: null,
      lag_blocks: null,
      lag_seconds: null,
      preferred: false,
    });
    expect(play.values("synclag_up", "multichain")).toEqual([0]);
    expect(play.values("synclag_block_number")).toHaveLength(2);
    expect(play.values("synclag_lag_seconds")).toHaveLength(2);
    expect(play.chain().gaps.filter(({ against }) => against === "multichain")).toEqual([]);
    expect(play.chain().reference?.block_number).toBe(play.head());
  });

  it("leaves no trace of a single impossible answer: no step back, no re-index, and the same advance", () => {
    const play = new ScriptedFleet(TRIO_AND_NODE).run("10m");
    const { last_advance } = play.target("multichain");

    play.wait("15s").poll("multichain", play.head() + FAR);
    const during = play.target("multichain").last_advance;
    play.run("1m");

    expect(during).toBe(last_advance);
    expect(play.target("multichain")).toMatchObject({
      status: "ok",
      lag_blocks: 0,
      regressions: { reorg: 0, reindex: 0 },
    });
    expect(Date.parse(play.target("multichain").last_advance ?? "")).toBeGreaterThan(
      Date.parse(last_advance ?? ""),
    );
    expect(play.statusesDuring("5m")).toEqual(["ok"]);
  });

  it("does not export an impossible height after a later poll that fails in another way", () => {
    const play = new ScriptedFleet(TRIO_AND_NODE).run("10m").script("multichain", behind(-FAR)).run("30s");

    play.wait("15s").poll("multichain", "timeout");

    expect(play.target("multichain")).toMatchObject({ reason: "timeout", up: false, block_number: null });
  });

  it("ends with the third timeout in a row, as any other status does", () => {
    const play = new ScriptedFleet(TRIO_AND_NODE).run("10m").script("multichain", behind(-FAR)).run("1m");

    play.script("multichain", () => "timeout");

    expect(play.changes("multichain", "2m")).toEqual(["45s unreachable"]);
  });

  it("holds for what is no height", () => {
    const details = [0, -1, 1.5, 2 ** 53, Number.NaN].map((block) => {
      const play = new ScriptedFleet(TRIO).run("10m").script("multichain", () => block);
      const { detail, reason, status, up } = play.run("30s").target("multichain");
      return { detail, reason, status, up };
    });

    expect(details).toEqual(
      ["0", "-1", "1.5", "9007199254740992", "NaN"].map((block) => ({
        status: "diverged",
        reason: "implausible",
        up: false,
        detail: `answers for another chain or fork: implausible (block ${block}, which is no height)`,
      })),
    );
  });

  it("goes by hashes where an RPC node decides between two indexers", () => {
    const play = new ScriptedFleet(fleetYaml(["multichain", "subgraph"], { blockTime: "12s", rpc: 1 }));
    play.script("rpc", ({ head, time }) => ({ block: head, hash: `0xa${head}`, timestampSec: time(head) }));
    play.script("multichain", ({ head }) => ({ block: head, hash: `0xa${head}` }));
    play.script("subgraph", ({ head }) => ({ block: head, hash: `0xa${head}` })).run("2m");
    play.script("subgraph", ({ head }) => ({ block: head, hash: `0xb${head}` }));

    play.run("2m");

    expect(play.statuses()).toEqual(["ok", "diverged"]);
    expect(play.target("subgraph").lag_blocks).toBeNull();
    expect(play.target("subgraph").detail).toMatch(
      /^answers for another chain or fork: its hash of block 1,000,\d+ is not that of/,
    );
  });

  it("does not hold where a provider hashes all blocks of the chain differently from the first", () => {
    const play = new ScriptedFleet(fleetYaml(["multichain", "subgraph"], { blockTime: "12s", rpc: 1 }));
    play.script("rpc", ({ head, time }) => ({ block: head, hash: `0xa${head}`, timestampSec: time(head) }));
    play.script("multichain", ({ head }) => ({ block: head, hash: `0xa${head}` }));
    play.script("subgraph", ({ head }) => ({ block: head, hash: `0xb${head}` }));

    expect(play.statusesDuring("10m")).toEqual(["ok"]);
  });

  it("does not hold where two differ in their hashes and nothing decides", () => {
    const play = new ScriptedFleet(fleetYaml(["multichain", "subgraph"], { blockTime: "12s" }));
    play.script("multichain", ({ head }) => ({ block: head, hash: `0xa${head}` }));
    play.script("subgraph", ({ head }) => ({ block: head, hash: `0xb${head}` }));

    expect(play.statusesDuring("10m")).toEqual(["ok"]);
  });

  it("goes by a block time that contradicts those of the others", () => {
    const play = new ScriptedFleet(TRIO).script("airdrops", dated()).run("10m");
    play.script("subgraph", ({ head, time }) => ({ block: head - 700_000, timestampSec: time(head) }));

    expect(play.run("45s").target("subgraph").status).toBe("diverged");

    expect(play.target("subgraph").detail).toMatch(
      /its time of block [\d,]+ contradicts .+ by \d+ d( \d+ h)?$/,
    );
    expect(play.target("multichain").status).toBe("ok");
  });

  it("holds for whom a majority contradicts, though it answered first", () => {
    const play = new ScriptedFleet(TRIO).script("airdrops", dated());
    play.wait("15s").poll("multichain", dated(800_000, DAY_SEC)({ head: play.head(), time: () => 0 }));
    play.script("multichain", ({ head, time }) => ({ block: head - 800_000, timestampSec: time(head) }));

    play.run("2m");

    expect(play.statuses()).toEqual(["diverged", "ok", "ok"]);
  });

  it("holds from the third poll ever on at the latest", () => {
    const play = new ScriptedFleet(TRIO).script("multichain", behind(-FAR));

    expect(play.run("35s").statuses()).toEqual(["diverged", "ok", "ok"]);
    expect(play.statusesDuring("10m")).toEqual(["diverged", "ok"]);
  });

  it("ends at once where a reload removes the only source that contradicted it", () => {
    const play = new ScriptedFleet(fleetYaml(["multichain"], { rpc: 1 })).script("multichain", behind(-FAR));
    const before = play.run("2m").target("multichain");

    play.reload(fleetYaml(["multichain"]));

    expect(before).toMatchObject({ status: "diverged" });
    expect(before.detail).toContain("an RPC node");
    expect(play.target("multichain")).toMatchObject({ status: "ok", reason: null, up: true });
    expect(play.target("multichain").detail).not.toContain("RPC");
    expect(play.chain().reference).toBeNull();
  });

  it("takes back that a first height is impossible once the majority has answered", () => {
    const play = new ScriptedFleet(TRIO_AND_NODE).script("multichain", dated());
    play
      .wait("15s")
      .poll("rpc", dated(100_000, 200_000)({ head: play.head(), time: () => play.nowMs / 1_000 - 200_000 }));
    play.poll("multichain").poll("subgraph", "timeout").poll("mirror", "timeout");
    const before = play.target("multichain");

    play.wait("1s").poll("subgraph").poll("mirror");

    expect(before.status).not.toBe("ok");
    expect(play.target("multichain")).toMatchObject({ status: "ok", reason: null, up: true });
  });
});
