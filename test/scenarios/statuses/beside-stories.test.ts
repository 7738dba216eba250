import { describe, expect, it } from "vitest";
import { FAILURE_REASONS } from "../../../src/core/model/observation.ts";
import { isoTime } from "../../../src/core/model/text.ts";
import { behind, dated, inTurn, type Script, ScriptedFleet } from "../../support/scripted-fleet.ts";
import { fleetYaml, TRIO, TRIO_AND_NODE } from "./fleets.ts";

// What the stories of stories.test.ts cannot say: other outputs, and sources of other kinds.

const FAR = 5_000_000;

describe("a status", () => {
  it("changes after two polls that fail in one way, three that time out, one without budget", () => {
    // A poll that a shutdown cut off is never heard of.
    const reasons = FAILURE_REASONS.filter((reason) => reason !== "aborted");

    const changes = reasons.map((reason) => {
      const play = new ScriptedFleet(TRIO).run("10m").script("multichain", () => reason);
      return `${reason}: ${play.changes("multichain", "1m").join()}`;
    });

    expect(changes).toEqual([
      "timeout: 45s unreachable",
      "dns: 30s unreachable",
      "connect: 30s unreachable",
      "tls: 30s unreachable",
      "http_status: 30s unreachable",
      "rate_limited: 30s throttled",
      "unauthorized: 30s rejected",
      "payment_required: 30s rejected",
      "not_found: 30s not_found",
      "no_indexers: 30s unreachable",
      "indexing_error: 30s failed",
      "graphql: 30s unreachable",
      "schema: 30s not_found",
      "malformed: 30s unreachable",
      "too_large: 30s unreachable",
      "implausible: 30s diverged",
      "wrong_chain: 30s rejected",
      "budget: 15s throttled",
    ]);
  });
});

describe("the reference", () => {
  it("is in the metrics and on the page, with how many sources agree", () => {
    const play = new ScriptedFleet(fleetYaml(["a", "b", "c", "d"])).script("a", behind(-3)).run("2m");

    expect(play.values("synclag_reference_block_number")).toEqual([play.head()]);
    expect(play.page()).toContain("×4");
    expect(new ScriptedFleet(fleetYaml(["a"])).run("2m").values("synclag_reference_block_number")).toEqual(
      [],
    );
  });

  it("shows whether each source agrees, disagrees, or is excluded and why", () => {
    const play = new ScriptedFleet(fleetYaml(["a", "b", "c", "d"]));
    play.script("a", behind(-FAR)).script("d", behind(5_000)).run("1m");

    expect(play.chain().standings).toMatchObject([
      {
        block_number: play.head() + FAR,
        stands: "excluded",
        detail: expect.stringMatching(/^claims block [\d,]+, 5,000,000 beyond what /),
      },
      { block_number: play.head(), stands: "agrees", detail: null },
      { block_number: play.head(), stands: "agrees", detail: null },
      { block_number: play.head() - 5_000, stands: "apart", detail: null },
    ]);
    expect(play.page("base")).toContain("5,000,000 beyond what");
  });

  it("counts providers, not the endpoints of one host", () => {
    const play = new ScriptedFleet(
      fleetYaml(["a", "b", "c", "x", "y"]).replaceAll(/https:\/\/([abc])\.test\//g, "https://one.test/$1"),
    ).run("10m");

    for (const name of ["a", "b", "c"]) {
      play.script(name, behind(-FAR));
    }
    play.run("10m");

    expect(play.chain().reference?.block_number).toBe(play.head());
    expect(play.statuses()).toEqual(["diverged", "diverged", "diverged", "ok", "ok"]);
    expect(play.report().incidents).toMatchObject([{ scope: "host", subject: "one.test" }]);
  });

  it("counts sources of other protocols and tiers", () => {
    const { protocols, ...rest } = JSON.parse(fleetYaml(["a", "b"]));
    const [a, b] = protocols.airdrops;
    const yaml = JSON.stringify({ ...rest, protocols: { airdrops: [a], flow: [{ ...b, tier: "testing" }] } });
    const play = new ScriptedFleet(yaml).script("a", behind(300)).run("2m");

    expect(play.target("a").lag_blocks).toBe(300);
  });

  it("names two nodes of one host apart, without the keys in their URLs", () => {
    const yaml = fleetYaml(["a", "b"], { rpc: 2 })
      .replace("https://node1.test/", "https://node.test/v1/key")
      .replace("https://node2.test/", "https://node.test/v2/key");
    const members = new ScriptedFleet(yaml).run("2m").chain().reference?.members ?? [];

    expect(new Set(members).size).toBe(4);
    expect(members.filter((key) => key.startsWith("rpc/base/node.test/"))).toHaveLength(2);
    expect(JSON.stringify(members)).not.toMatch(/v1|v2|key/);
  });
});

describe("`diverged`", () => {
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
    expect(play.page()).toContain("airdrops multichain, diverged");
    expect(play.values("synclag_up", "multichain")).toEqual([0]);
    expect(play.values("synclag_block_number")).toHaveLength(2);
    expect(play.values("synclag_lag_seconds")).toHaveLength(2);
    expect(play.chain().gaps.filter(({ against }) => against === "multichain")).toEqual([]);
    expect(play.chain().reference?.block_number).toBe(play.head());
  });

  it("follows hashes if an RPC node decides between two indexers", () => {
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

  it("does not apply if a provider has hashed all blocks of the chain differently from the start", () => {
    const play = new ScriptedFleet(fleetYaml(["multichain", "subgraph"], { blockTime: "12s", rpc: 1 }));
    play.script("rpc", ({ head, time }) => ({ block: head, hash: `0xa${head}`, timestampSec: time(head) }));
    play.script("multichain", ({ head }) => ({ block: head, hash: `0xa${head}` }));
    play.script("subgraph", ({ head }) => ({ block: head, hash: `0xb${head}` }));

    expect(play.statusesDuring("10m")).toEqual(["ok"]);
  });
});

describe("`lagging`", () => {
  it("measures the lag in time by the real block times, not the usual interval", () => {
    // The file says 2 s, and the chain makes a block each 4 s.
    const slow = ({ head, time }: { head: number; time: (block: number) => number }, late: number) => {
      const block = Math.floor(head / 2) - late;
      return { block, timestampSec: time(block * 2) };
    };
    const play = new ScriptedFleet(TRIO).script("airdrops", (moment) => slow(moment, 0));
    play.script("multichain", (moment) => slow(moment, 100)).run("1h");

    expect(play.target("multichain")).toMatchObject({ status: "ok", lag_blocks: 100 });
    expect(play.target("multichain").lag_seconds).toBeCloseTo(400, -1);
    expect(play.chain().block_interval_seconds).toBeCloseTo(4, 1);
  });
});

describe("`unknown`", () => {
  it("applies before the first poll, without a derived value", () => {
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

  it("begins when the last reply is older than `stale`, without a height, lag or gap", () => {
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
});

describe("`chain_halted`", () => {
  it.each([
    { case: "the packaged thresholds", batch: 30, thresholds: {} },
    {
      case: "a `lagging` that is shorter than `stalled`",
      batch: 15,
      thresholds: { lagging: "1m", critical: "5m", stalled: "90s" },
    },
  ])(
    "is not preceded by `lagging`, though some write blocks in batches, with $case",
    ({ batch, thresholds }) => {
      const yaml = fleetYaml(["multichain", "subgraph", "mirror"], { rpc: 1, thresholds });
      const inBatches: Script = ({ head, time }) => dated()({ head: head - (head % batch), time });
      const play = new ScriptedFleet(yaml)
        .script("airdrops", dated())
        .script("subgraph", inBatches)
        .run("20m");

      play.haltChains();

      const statuses = play.statusesDuring("30m");
      expect(statuses.filter((status) => status === "lagging" || status === "syncing")).toEqual([]);
      expect(play.statuses()).toEqual(["chain_halted", "chain_halted", "chain_halted"]);
    },
  );
});

describe("`ok`", () => {
  it("counts changes of the deployment, but not its absence", () => {
    const deployments = ["Qm1", null, "Qm1", "Qm2", "Qm2", "Qm3"];
    const play = new ScriptedFleet(TRIO);
    play.script(
      "multichain",
      inTurn(
        ...deployments.map((deployment) => ({ head }: { head: number }) => ({ block: head, deployment })),
      ),
    );

    play.run("90s");

    expect(play.target("multichain")).toMatchObject({ deployment: "Qm3", deployment_changes: 2 });
  });

  it("keeps the last block time if a reply lacks it, and ignores one of the future", () => {
    const play = new ScriptedFleet(TRIO).script("multichain", dated(0, -10)).run("1m");
    const known = play.target("multichain").block_timestamp;
    play.script("multichain", behind(0)).run("30s");
    play.script("subgraph", dated(0, 1_000_000)).run("30s");

    expect(play.target("multichain").block_timestamp).toBe(known);
    expect(known).not.toBeNull();
    expect(play.target("subgraph").block_timestamp).toBeNull();
  });
});

describe("`failed`", () => {
  it("quotes the indexer's cause", () => {
    const play = new ScriptedFleet(TRIO).script("multichain", ({ head }) => ({
      block: head,
      indexingErrors: true,
      failure: "out of memory",
    }));

    play.run("1m");

    expect(play.target("multichain").detail).toBe(
      "the indexer reports a failed deployment: out of memory; it is level with the reference seen by 3 sources",
    );
  });
});
