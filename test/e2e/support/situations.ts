import { readFileSync } from "node:fs";
import { SIMULATED_API_KEY } from "../../../src/sim/servers/families.ts";
import { type Scenario, startScenario } from "../../support/scenario.ts";
import { serve } from "../../support/served.ts";
import { undoLater } from "./undo.ts";

/** The situations in which a person on call opens the pages. */
interface Situation {
  readonly chainsYaml: string;
  readonly play: (scenario: Scenario) => Promise<void>;
}

const PACKAGED = readFileSync("chains.yaml", "utf8");
const GATEWAY = "gateway.thegraph.com";
const LONG = "a-name-of-sixty-letters-".padEnd(60, "x");

const SITUATIONS = {
  "all ok": { chainsYaml: PACKAGED, play: (scenario) => scenario.run("20m") },
  "one fault": {
    chainsYaml: PACKAGED,
    async play(scenario) {
      await scenario.run("20m");
      scenario.fleet.target("lockup/subgraph/production/base").freeze();
      await scenario.run("50m");
    },
  },
  "two faults": {
    chainsYaml: PACKAGED,
    async play(scenario) {
      await scenario.run("20m");
      scenario.fleet.target("lockup/subgraph/production/base").freeze();
      await scenario.run("20m");
      scenario.fleet.target("airdrops/multichain/production/polygon").freeze();
      scenario.fleet.target("airdrops/subgraph/production/polygon").freeze();
      await scenario.run("30m");
    },
  },
  "shared cause": {
    chainsYaml: PACKAGED,
    async play(scenario) {
      await scenario.run("20m");
      scenario.setHost(GATEWAY, "down");
      await scenario.run("30m");
    },
  },
  dispute: {
    chainsYaml: `
version: 1
chains:
  base: { id: 8453 }
  gnosis: { id: 100 }
protocols:
  lockup:
    - { variant: multichain, dialect: envio, url: "https://envio.example/v1/graphql", schedule: "*/15 * * * * *", chains: [base, gnosis] }
    - { variant: subgraph, dialect: graph, url: "https://graph.example/{chain}", schedule: "*/15 * * * * *", chains: [base, gnosis] }
`,
    async play(scenario) {
      scenario.fleet.target("lockup/subgraph/production/base").set({ offsetBlocks: 30_000_000 });
      await scenario.run("20m");
    },
  },
  "no network": {
    chainsYaml: PACKAGED,
    async play(scenario) {
      await scenario.run("20m");
      scenario.fleet.isClosed = true;
      await scenario.run("10m");
    },
  },
  "first minute": { chainsYaml: PACKAGED, play: (scenario) => scenario.run("20s") },
  "1,000 targets": {
    chainsYaml: fleetOf(250, ["one", "two", "three", "four"]),
    async play(scenario) {
      await scenario.run("12m");
      scenario.fleet.target("lockup/one/production/chain-7").freeze();
      await scenario.run("20m");
    },
  },
  "long names": {
    chainsYaml: fleetOf(3, [LONG, "subgraph"], LONG),
    async play(scenario) {
      await scenario.run("12m");
      scenario.fleet.target(`${LONG}/${LONG}/production/chain-1`).freeze();
      await scenario.run("40m");
    },
  },
} as const satisfies Readonly<Record<string, Situation>>;

export type SituationName = keyof typeof SITUATIONS;

/** Chains, each with these variants of one protocol. */
function fleetOf(chains: number, variants: readonly string[], protocol = "lockup"): string {
  const slugs = Array.from({ length: chains }, (_, index) => `chain-${index}`);
  const name = (slug: string) => (protocol === "lockup" ? `Chain ${slug.slice(6)}` : slug.padEnd(60, "y"));
  return JSON.stringify({
    version: 1,
    chains: Object.fromEntries(
      slugs.map((slug, index) => [slug, { id: 700_000 + index, name: name(slug), block_time: "2s" }]),
    ),
    protocols: {
      [protocol]: variants.map((variant, index) => ({
        variant,
        dialect: "graph",
        url: `https://host-${index}.example/{chain}`,
        schedule: "*/30 * * * * *",
        chains: slugs,
      })),
    },
  });
}

/** Plays a situation in virtual time, and serves its pages as they are then. The URL of the server. */
export async function serveSituation(name: SituationName): Promise<string> {
  const { chainsYaml, play } = SITUATIONS[name];
  const scenario = await startScenario(chainsYaml, { env: { THEGRAPH_API_KEY: SIMULATED_API_KEY } });
  let snapshot: ReturnType<Scenario["snapshot"]>;
  try {
    await play(scenario);
    snapshot = scenario.snapshot();
  } finally {
    await scenario[Symbol.asyncDispose]();
  }
  const server = await serve(snapshot);
  undoLater(() => server[Symbol.asyncDispose]());
  return server.url;
}
