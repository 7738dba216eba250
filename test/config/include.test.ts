import { describe, expect, it } from "vitest";
import { parseConfig } from "../../src/config/parse.ts";
import { endpointsOf, indexerKey } from "../../src/core/model/fleet.ts";
import { configErrorOf } from "../support/config-error.ts";

type Files = Readonly<Record<string, string>>;

const MAIN = `version: 1
include: [teams/*.yaml, "/etc/keys/budgets.yaml"]
chains:
  base: { id: 8453 }
protocols:
  lockup:
    - { variant: multichain, url: "https://indexer.example/", chains: [base] }
maintenance:
  - { match: { chain: base }, schedule: "0 0 3 * * 0", for: 1h }
`;

const FILES: Files = {
  "fleet/teams/one.yaml": `chains:
  mode: { id: 34443, rpc: [{ url: "https://mode.example/\${MODE_KEY}", budget: nodes }] }
protocols:
  lockup:
    - { variant: subgraph, url: "https://subgraph.example/{chain}", chains: [base, mode] }
  airdrops:
    - { variant: multichain, url: "https://airdrops.example/", chains: [mode] }
`,
  "fleet/teams/two.yaml": `protocols:
  airdrops:
    - { variant: subgraph, url: "https://subgraph.example/airdrops", chains: [mode] }
maintenance:
  - { match: { protocol: airdrops }, schedule: "0 0 4 * * 0", for: 1h }
`,
  "fleet/teams/.hidden.yaml": "nothing: here\n",
  "fleet/teams/notes.txt": "nothing: here\n",
  "/etc/keys/budgets.yaml": "budgets: { nodes: { limit: 100000, per: day, scope: shared } }\n",
};

describe("include", () => {
  it("merges the files in the order of the list and of their names, and concatenates the indexers of a protocol", () => {
    const { fleet, maintenance, secrets } = parse(MAIN, FILES);

    expect(fleet.chains.map(({ slug }) => slug)).toEqual(["base", "mode"]);
    expect(fleet.indexers.map(indexerKey)).toEqual([
      "lockup/multichain/production",
      "lockup/subgraph/production",
      "airdrops/multichain/production",
      "airdrops/subgraph/production",
    ]);
    expect(endpointsOf(fleet).filter(({ budget }) => budget === "nodes")).toHaveLength(1);
    expect(maintenance.map(({ match }) => match)).toEqual([{ chain: "base" }, { protocol: "airdrops" }]);
    expect(secrets).toContain("key-of-mode");
  });

  it("locates each mistake in its file, and names both places of a duplicate", () => {
    const files = {
      ...FILES,
      "fleet/teams/one.yaml": `chains:
  base: { id: 84531 }
  mode: { id: 34443, naem: Mode }
protocols:
  lockup:
    - { variant: multichain, url: "https://other.example/", chains: [base, moed] }
parity: { name: x }
`,
      "fleet/teams/three.yaml": `listen: 127.0.0.1:1
include: [more.yaml]
budget: {}
budgets: [nodes]
protocols: { lockup: { variant: x } }
`,
      "fleet/teams/two.yaml": "budgets: { nodes: { limit: 5, per: day, scope: shared } }\n",
    };

    expect(problemsOf(MAIN, files)).toEqual([
      "fleet/teams/one.yaml:2:3: chains.base: listed twice, first at fleet/chains.yaml:4:3",
      'fleet/teams/one.yaml:3:22: chains.mode.naem: unknown key "naem"; did you mean "name"?',
      "fleet/teams/one.yaml:6:9: protocols.lockup[0].variant: lockup/multichain/production is listed twice, first at fleet/chains.yaml:7:9",
      'fleet/teams/one.yaml:6:76: protocols.lockup[0].chains[1]: unknown chain "moed"; did you mean "mode"?',
      "fleet/teams/one.yaml:7:9: parity: found a map, expected a list of at most 20 probes",
      'fleet/teams/three.yaml:1:1: listen: unknown key "listen"; expected chains, protocols, budgets, maintenance, parity',
      'fleet/teams/three.yaml:2:1: include: unknown key "include"; expected chains, protocols, budgets, maintenance, parity',
      'fleet/teams/three.yaml:3:1: budget: unknown key "budget"; did you mean "budgets"?',
      "fleet/teams/three.yaml:4:10: budgets: found a list, expected a map of budgets",
      "fleet/teams/three.yaml:5:22: protocols.lockup: found a map, expected a list of indexers",
    ]);
  });

  it("does not include a file in itself or twice, however it is named", () => {
    const main = MAIN.replace(/include: .*/, 'include: ["*.yaml", "*.y*", more.yaml]');
    const files = { "fleet/more.yaml": "chains: { mode: { id: 34443 } }" };

    const { fleet } = parse(main, files, "./fleet/../fleet/chains.yaml");

    expect(fleet.chains.map(({ slug }) => slug)).toEqual(["base", "mode"]);
  });

  it("refuses a pattern that matches nothing, and what cannot be read", () => {
    const include = (pattern: string) => MAIN.replace(/include: .*/, `include: ["${pattern}"]`);
    const problemOf = (pattern: string, files = FILES) => problemsOf(include(pattern), files);
    const at = "fleet/chains.yaml:2:11: include[0]: ";

    expect(problemOf("team/*.yaml")).toEqual([`${at}cannot read "team/*.yaml": no file matches`]);
    expect(problemOf("teams/four.yaml")).toEqual([
      `${at}cannot read "teams/four.yaml": ENOENT: fleet/teams/four.yaml`,
    ]);
    expect(problemOf("*.yaml")).toEqual([`${at}cannot read "*.yaml": no file matches`]);
    expect(problemOf("teams/o*", { "fleet/teams/one.yaml": "a: [" })).toEqual([
      expect.stringMatching(/^fleet\/teams\/one\.yaml:1:5: \(file\): invalid YAML: /),
    ]);
    expect(problemOf("teams/o*", { "fleet/teams/one.yaml": "" })).toContain(
      "fleet/teams/one.yaml:1:1: (file): found an empty value, expected a map with chains, protocols, budgets, maintenance or parity",
    );
  });
});

function parse(text: string, files: Files, file = "fleet/chains.yaml") {
  return parseConfig(text, {
    file,
    env: { MODE_KEY: "key-of-mode" },
    readFile: (path) => {
      const found = files[path];
      if (found === undefined) {
        throw new Error(`ENOENT: ${path}`);
      }
      return found;
    },
    listFiles: (folder, pattern) =>
      ["fleet/chains.yaml", ...Object.keys(files)]
        .filter((path) => path.slice(0, path.lastIndexOf("/")) === folder)
        .map((path) => path.slice(folder.length + 1))
        .filter((name) => pattern.test(name)),
  });
}

function problemsOf(text: string, files: Files): readonly string[] {
  return configErrorOf(() => parse(text, files)).split("\n");
}
