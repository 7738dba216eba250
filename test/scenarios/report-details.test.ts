import { describe, expect, it } from "vitest";
import { FAULTS } from "../support/faults.ts";
import { type Scenario, startScenario } from "../support/scenario.ts";

type Happens = (play: Scenario, target: string) => void;

/** What happens to the target `subgraph` of a chain, and what its detail says at last. */
const SITUATIONS: Readonly<
  Record<string, { readonly happens: Happens; readonly sources?: "alone" | "pair" | "rpc" }>
> = {
  missing: {
    happens: (play, key) => play.fleet.target(key.replace("subgraph", "multichain")).set({ rows: 0 }),
  },
  well: { happens: () => undefined },
  behind: { happens: (play, key) => play.fleet.target(key).set({ lagBlocks: 3 }) },
  rejected: { happens: (play, key) => play.fleet.endpoint(key).fail(FAULTS.unknown_key) },
  throttled: { happens: (play, key) => play.fleet.endpoint(key).fail(FAULTS.http_429) },
  "not-found": { happens: (play, key) => play.fleet.endpoint(key).fail(FAULTS.subgraph_not_found) },
  unreachable: { happens: (play, key) => play.fleet.endpoint(key).fail(FAULTS.hang_before_headers) },
  schema: { happens: (play, key) => play.fleet.endpoint(key).fail(FAULTS.number_null) },
  "indexing-errors": { happens: (play, key) => play.fleet.target(key).set({ indexingErrors: true }) },
  "failed-deployment": { happens: (play, key) => play.fleet.endpoint(key).fail(FAULTS.indexing_error) },
  "other-chain": {
    happens: (play, key) => play.fleet.target(key).set({ wrongChain: play.fleet.chain("well").model }),
  },
  "other-fork": { happens: (play, key) => play.fleet.target(key).set({ fork: "other" }) },
  "far-ahead": { happens: (play, key) => play.fleet.target(key).set({ offsetBlocks: 5_000_000 }) },
  "far-ahead-untimed": {
    happens: (play, key) => {
      untimed(play, key);
      play.fleet.target(key).set({ offsetBlocks: 5_000_000 });
    },
  },
  "disputed-untimed": {
    sources: "pair",
    happens: (play, key) => {
      untimed(play, key);
      play.fleet.target(key).set({ offsetBlocks: 899_900 });
    },
  },
  halted: { happens: (play, key) => play.fleet.target(key).chain.halt() },
  "halted-alone": { sources: "pair", happens: (play, key) => play.fleet.target(key).chain.halt() },
  frozen: { happens: (play, key) => play.fleet.target(key).freeze() },
  "not-started": { happens: (play, key) => play.fleet.target(key).set({ started: false }) },
  reindexing: {
    happens: (play, key) => play.fleet.target(key).reindex({ backBlocks: 200_000, withinMs: 36_000_000 }),
  },
  slow: { happens: (play, key) => play.fleet.target(key).slow(0.2) },
  "long-behind": { happens: (play, key) => play.fleet.target(key).set({ lagBlocks: 30_000 }) },
  single: { sources: "alone", happens: () => undefined },
  "single-behind": { sources: "alone", happens: (play, key) => play.fleet.target(key).slow(0) },
  "single-untimed": {
    sources: "alone",
    happens: (play, key) => play.fleet.target(key).set({ says: { timestampSec: null } }),
  },
  disputed: {
    sources: "pair",
    happens: (play, key) => play.fleet.target(key).set({ offsetBlocks: 899_900 }),
  },
  "disputed-fork": { sources: "pair", happens: (play, key) => play.fleet.target(key).set({ fork: "other" }) },
  "low-replicas": {
    happens: (play, key) => play.fleet.target(key).set({ replicas: 3, wobbleBlocks: 3_000 }),
  },
};

/** Neither the target nor its rival reports block times. */
function untimed(play: Scenario, target: string): void {
  for (const key of [target, target.replace("subgraph", "mirror")]) {
    play.fleet.target(key).set({ says: { timestampSec: null } });
  }
}

const CHAINS = Object.entries(SITUATIONS);
const FLEET = `
version: 1
poll: { retries: 0, rpc_schedule: "*/30 * * * * *" }
thresholds: { lagging: 2m, critical: 10m, stalled: 2m }
chains:
${CHAINS.map(([slug, { sources = "rpc" }], index) => `  ${slug}: { id: ${index + 1}, block_time: 2s${sources === "rpc" ? `, rpc: ["https://node.example/${slug}"]` : ""} }`).join("\n")}
protocols:
  airdrops:
    - { variant: subgraph, dialect: graph, url: "https://graph.example/{chain}", schedule: "*/30 * * * * *", chains: [${CHAINS.map(([slug]) => slug).join(", ")}] }
    - { variant: mirror, dialect: graph, url: "https://mirror.example/{chain}", schedule: "*/30 * * * * *", chains: [${CHAINS.flatMap(([slug, { sources }]) => (sources === "alone" ? [] : [slug])).join(", ")}] }
    - { variant: multichain, dialect: envio, url: "https://envio.example/v1/graphql", schedule: "*/30 * * * * *", chains: [well, missing] }
`;

describe("the sentence that explains a status", () => {
  it("says what happened, how far the target is behind, and how the last poll failed where that is not why", async () => {
    await using play = await startScenario(FLEET);
    await play.run("3m");
    for (const [slug, { happens }] of CHAINS) {
      happens(play, `airdrops/subgraph/production/${slug}`);
    }

    await play.run("40s");
    const soon = detailsOf(play);
    await play.run("5m");
    const later = { ...detailsOf(play), multichain: detailsOf(play, "multichain")["missing"] };
    await play.run("5s");
    play.fleet.target("airdrops/multichain/production/well").set({ rows: 0 });
    play.fleet.target("airdrops/subgraph/production/behind").set({ started: false });
    for (const slug of [
      "well",
      "indexing-errors",
      "failed-deployment",
      "other-chain",
      "not-started",
      "rejected",
      "frozen",
    ]) {
      play.fleet.endpoint(`airdrops/subgraph/production/${slug}`).fail(FAULTS.http_500);
    }
    await play.run("16s");
    const last = { ...detailsOf(play), multichain: detailsOf(play, "multichain")["well"] };

    const failed = "the last poll failed: http_status (HTTP 500: Internal server error: store)";
    const undecided =
      "no reference: mirror (block N) and subgraph (block N) contradict each other, at one height, and as many stand on each side; one more variant whose answers have block hashes would decide it";
    const proven =
      /^diverged: answers for another chain or fork: its hash of block N is not that of an RPC node; block N has hash 0x[0-9a-f]{8}… by the RPC node, and 0x[0-9a-f]{8}… by this source$/;
    const unknownHalt = "without an independent head it is unknown whether the chain itself has halted";
    expect(soon).toMatchObject({
      throttled:
        "ok: advances, close to the reference seen by 3 sources; the last poll failed: rate_limited (Too many requests)",
      unreachable:
        "ok: last advanced 61 s ago, close to the reference seen by 3 sources; the last poll failed: timeout (no reply within 10 s)",
      frozen: expect.stringMatching(
        /^ok: advances, 3\d s \(1\d blocks\) behind the reference seen by 3 sources$/,
      ),
      "long-behind": expect.stringMatching(/^ok: has not advanced for 60 s, 6\d s/),
    });
    expect(later).toEqual({
      missing: "ok: advances, close to the reference seen by 3 sources",
      multichain: "missing: the answer lacks this chain, though it is expected there; last height 6 min ago",
      well: "ok: advances, close to the reference seen by 4 sources",
      behind: expect.stringMatching(
        /^ok: advances, [67].\d s \([34] blocks\) behind the reference seen by 3 sources$/,
      ),
      rejected:
        "rejected: our key is missing, wrong or unpaid: unauthorized (auth error: API key not found); last height 6 min ago",
      throttled:
        "throttled: polled too often, or our budget is spent: rate_limited (rate-limited by provider at 03:07 UTC, next attempt 03:10 UTC); last height 6 min ago",
      "not-found":
        "not_found: no such subgraph or deployment: not_found (subgraph not found: 4SxPXkQNifgBYqje2C4yP5gz69erZwtD7GuLWgXHSLGe); last height 6 min ago",
      unreachable: "unreachable: no usable answer: timeout (no reply within 10 s); last height 6 min ago",
      schema: "not_found: Cannot read data._meta.block.number as a height: null; last height 6 min ago",
      "indexing-errors":
        "failed: the indexer reports indexing errors, and is close to the reference seen by 3 sources",
      "failed-deployment": "failed: the indexer reports a failed deployment: indexing_error (indexing_error)",
      "other-chain": expect.stringMatching(proven),
      "other-fork": expect.stringMatching(proven),
      "far-ahead":
        "diverged: answers for another chain or fork: implausible (its time of block N contradicts mirror and an RPC node by 115 d 18 h; the RPC node does not have block N)",
      "far-ahead-untimed":
        "diverged: answers for another chain or fork: implausible (claims block N, N beyond what mirror and an RPC node agree on; the RPC node does not have block N)",
      disputed:
        "diverged: answers for another chain or fork: implausible (its time of block N contradicts mirror by 20 d 20 h)",
      "disputed-untimed": expect.stringMatching(
        /^diverged: answers for another chain or fork: implausible \(claims block N, 899,9\d\d beyond what mirror shows\)$/,
      ),
      "disputed-fork": `ok: advances, seconds behind, measured against the clock: ${undecided}`,
      halted:
        "chain_halted: the chain itself stands still, as an independent RPC node shows; this target is close to the reference seen by 3 sources",
      "halted-alone": `stalled: has not advanced for 5 min, nor has any other source: ${unknownHalt}`,
      "single-behind": `stalled: has not advanced for 5 min, nor has any other source: ${unknownHalt}`,
      frozen: expect.stringMatching(
        /^stalled: has not advanced for 5 min while its chain does, 6 min \(16\d blocks\) behind the reference seen by 2 sources$/,
      ),
      "not-started": "syncing: has not started indexing yet",
      reindexing: expect.stringMatching(
        /^syncing: 4 d 14 h \(198,\d{3} blocks\) behind the reference seen by 2 sources; catching up at 5\.\d blocks a second, at the head in about \d+ h( \d+ min)?$/,
      ),
      slow: expect.stringMatching(
        /^lagging: advances, 4 min \(13\d blocks\) behind the reference seen by 2 sources$/,
      ),
      "long-behind": expect.stringMatching(
        /^lagging: advances, 16 h 40 min \(30,00\d blocks\) behind the reference seen by 2 sources$/,
      ),
      single: "ok: advances, seconds behind, measured against the clock: its chain has a single source",
      "single-untimed": "ok: advances, lag unknown: its chain has a single source, without block times",
      "low-replicas": expect.stringMatching(
        /its replicas disagree by [\d,]+ blocks: \d+ of its last 1\d answers were that far behind the others$/,
      ),
    });
    expect(last).toMatchObject({
      multichain: "ok: advances, close to the reference seen by 4 sources; the last answer lacked this chain",
      well: `ok: advances, close to the reference seen by 4 sources; ${failed}`,
      behind: expect.stringMatching(/; the last answer said that indexing has not started$/),
      rejected: `rejected: our key is missing, wrong or unpaid; last height 6 min ago; ${failed}`,
      "indexing-errors": `failed: the indexer reports indexing errors, and is close to the reference seen by 3 sources; ${failed}`,
      "failed-deployment":
        "unreachable: no usable answer: http_status (HTTP 500: Internal server error: store); last height 7 min ago",
      "other-chain": expect.stringMatching(/^diverged: .* by this source; the last poll failed: http_status/),
      "not-started":
        "unreachable: no usable answer: http_status (HTTP 500: Internal server error: store); last height 7 min ago",
      frozen: expect.stringMatching(/^stalled: .*; the last poll failed: http_status/),
    });
  });
});

describe("the report", () => {
  it("is the same for all who ask for it within a second", async () => {
    await using play = await startScenario(FLEET);
    await play.run("30s");

    const first = play.report();

    expect(play.report()).toBe(first);
    await play.run("2s");
    expect(play.report()).not.toBe(first);
  });
});

/** By chain, `status: detail`. Heights, and the seconds that a poll is late, are left out. */
function detailsOf(play: Scenario, variant = "subgraph"): Readonly<Record<string, string>> {
  const { targets } = play.status();
  return Object.fromEntries(
    targets
      .filter((target) => target.variant === variant)
      .map(({ chain, detail, status }) => [
        chain,
        `${status}: ${detail}`
          .replace(/(level with|[\d.]+ s \(1 block\) behind) the reference/, "close to the reference")
          .replace(/\b\d(\.\d)? s behind/, "seconds behind")
          .replace(/\d+(,\d{3}){2}/g, "N"),
      ]),
  );
}
