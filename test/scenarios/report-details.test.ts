import { describe, it } from "vitest";
import { FAULTS } from "../support/faults.ts";
import { expectGolden } from "../support/golden.ts";
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
  it("gives cause and distance, and the failure of the last poll if it is not the cause", async () => {
    await using play = await startScenario(FLEET);
    await play.run("3m");
    for (const [slug, { happens }] of CHAINS) {
      happens(play, `airdrops/subgraph/production/${slug}`);
    }

    const told: string[] = [];
    const tell = (moment: string): void => {
      told.push(`# ${moment}`, ...detailsOf(play), "");
    };

    await play.run("40s");
    tell("after 40 seconds");
    await play.run("5m");
    tell("after five more minutes");
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
    tell("after another poll, which fails for some");

    expectGolden("test/goldens/report-details.txt", told.join("\n"));
  });
});

/** Of each target in which something happens `chain: status: detail`, without heights. */
function detailsOf(play: Scenario): readonly string[] {
  return play
    .status()
    .targets.filter(({ variant }) => variant !== "mirror")
    .map(({ chain, detail, status, variant }) => {
      const name = variant === "subgraph" ? chain : `${chain} by ${variant}`;
      return `${name}: ${status}: ${detail.replace(/\d+(,\d{3}){2}/g, "N")}`;
    });
}
