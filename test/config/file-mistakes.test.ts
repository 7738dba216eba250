import { describe, expect, it } from "vitest";
import { problemsOf } from "./problems-of.ts";

describe("parseConfig()", () => {
  it.each([
    {
      mistake: "alias-bomb",
      problems: [
        '2:1: a: Cannot use unknown key "a": expected version, listen, poll, thresholds, budgets, chains, protocols, maintenance, parity',
        '3:1: b: Cannot use unknown key "b": expected version, listen, poll, thresholds, budgets, chains, protocols, maintenance, parity',
        "3:12: chains[0][6][9][1]: Cannot expand *a: aliases expand to more than 20000 values",
        '4:1: c: Cannot use unknown key "c": expected version, listen, poll, thresholds, budgets, chains, protocols, maintenance, parity',
        '5:1: d: Cannot use unknown key "d": expected version, listen, poll, thresholds, budgets, chains, protocols, maintenance, parity',
        "6:9: chains: Cannot use a list: expected a map of chains by slug",
        "7:12: protocols: Cannot use an empty map: expected at least one protocol",
      ],
    },
    {
      mistake: "alias-of-itself",
      problems: [
        "9:28: protocols.lockup[0].chains[1][1]: Cannot expand *list: it contains itself",
        "9:28: protocols.lockup[0].chains[1]: Cannot use a list: expected the slug of a chain",
      ],
    },
    {
      mistake: "alias-of-nothing",
      problems: [
        "9:15: protocols.lockup[0].chains: Cannot expand *chains: its anchor is not defined before it",
      ],
    },
    {
      mistake: "bad-budget",
      problems: [
        "3:20: budgets.studio.limit: Cannot use 0: expected a whole number from 1",
        '3:28: budgets.studio.per: Cannot use "week": expected hour, day or month',
        '4:48: budgets.gateway.scope: Cannot use "all": expected endpoint or shared',
      ],
    },
    {
      mistake: "bad-duration",
      problems: [
        "10:18: poll.timeout: Cannot use 10: expected a duration such as 250ms, 10s, 5m or 1h",
        '11:24: thresholds.lagging: Cannot use "10 minutes": expected a duration such as 250ms, 10s, 5m or 1h, at most 24 days',
        '11:43: thresholds.stale: Cannot use "0s": expected a duration such as 250ms, 10s, 5m or 1h, at most 24 days',
        '11:56: thresholds.stalled: Cannot use "900h": expected a duration such as 250ms, 10s, 5m or 1h, at most 24 days',
      ],
    },
    {
      mistake: "bad-listen",
      problems: [
        '10:9: listen: Cannot listen on "127.0.0.1:70000": expected HOST:PORT such as 127.0.0.1:9855 or [::1]:9855',
      ],
    },
    {
      mistake: "bad-names",
      problems: [
        '3:3: chains["Base Chain"]: Cannot use "Base Chain": expected a name of lower-case letters, digits and dashes, starting with a letter or digit',
        '3:21: chains["Base Chain"].id: Cannot use 0: expected a whole number from 1',
        '6:3: protocols.Lock_up: Cannot use "Lock_up": expected a name of lower-case letters, digits and dashes, starting with a letter or digit',
        '7:16: protocols.Lock_up[0].variant: Cannot use "Multi": expected a name of lower-case letters, digits and dashes, starting with a letter or digit',
      ],
    },
    {
      mistake: "bad-numbers",
      problems: [
        "3:15: chains.base.id: Cannot use 0: expected a whole number from 1",
        '4:18: chains.sepolia.id: Cannot use "11155111": expected a whole number from 1',
        "10:22: poll.concurrency: Cannot use 0: expected a whole number from 1 to 1000",
        "10:35: poll.per_host: Cannot use 1.5: expected a whole number from 1 to 1000",
        "10:49: poll.retries: Cannot use -1: expected a whole number from 0 to 10",
      ],
    },
    {
      mistake: "bad-parity",
      problems: [
        '8:11: parity[0].name: Cannot use "Campaigns": expected a name of lower-case letters, digits and dashes, starting with a letter or digit',
        "10:12: parity[0].every: Cannot compare every 5s: expected a duration from 10s to 24h",
        '11:56: parity[0].queries.multichain.value: Cannot use "a..b": expected a path such as campaigns.0.subgraphId',
        '11:86: parity[0].queries.subgraph.select: Cannot use "": expected a GraphQL selection such as campaigns(first: 1) { subgraphId }',
        '12:11: parity[1].name: Cannot use "a-name-that-is-much-too-long-for-a-label-of-a-metric": expected a name of at most 40 characters',
        "14:12: parity[1].every: Cannot compare every 25h: expected a duration from 10s to 24h",
        "15:13: parity[1].chains: Cannot use an empty list: expected at least one chain; leave chains out for all that two of the variants serve",
        "16:16: parity[1].queries.multichain.select: Cannot find required key: expected a GraphQL selection such as campaigns(first: 1) { subgraphId }",
        '16:30: parity[1].queries.multichain.selct: Cannot use unknown key "selct": did you mean "select"?',
        "16:62: parity[1].queries.subgraph.value: Cannot find required key: expected a path such as campaigns.0.subgraphId",
        '19:5: parity[2].evry: Cannot use unknown key "evry": did you mean "every"?',
        "20:14: parity[2].queries: Cannot use a list: expected a map of variants, each with select and value",
      ],
    },
    {
      mistake: "parity-mistakes",
      problems: [
        '12:28: parity[0].protocol: Cannot find protocol "airdrop" in protocols: did you mean "airdrops"?',
        '13:49: parity[1].queries.multichian: Cannot find variant "multichian" of protocol airdrops: did you mean "multichain"?',
        '14:13: parity[2].name: Cannot use the name "two" twice',
        "14:47: parity[2].queries: Cannot compare subgraph: expected two or more variants of multichain, subgraph, node",
        '15:48: parity[3].chains[0]: Cannot find chain "bsae" in chains: did you mean "base"?',
        '15:54: parity[3].chains[1]: Cannot compare on chain "mode": expected two of multichain, subgraph to serve it, found subgraph',
        '15:66: parity[3].chains[3]: Cannot list chain "base" twice',
        "16:46: parity[4].queries: Cannot compare these variants: no chain is served by two of them",
        "17:71: parity[5].queries.multichain.select: Cannot use this selection: it is not valid GraphQL: Expected Name, found its end",
        "17:109: parity[5].queries.subgraph.select: Cannot use this selection: expected a field other than _meta, which each request has already",
        "18:73: parity[6].queries.multichain.select: Cannot use this selection: it is not valid GraphQL: Expected Name, found its end",
        "18:116: parity[6].queries.subgraph.select: Cannot use this selection: expected a without an alias: each request gives it one",
        "19:73: parity[7].queries.multichain.select: Cannot use this selection: expected values instead of the variable $id; placeholders are {chain} and {chain_id}",
        "19:119: parity[7].queries.subgraph.select: Cannot use this selection: expected one field, found a fragment",
        "20:72: parity[8].queries.multichain.select: Cannot use this selection: expected one field, found several definitions",
        "20:115: parity[8].queries.subgraph.select: Cannot use this selection: expected fields instead of the fragment ...F",
        '21:97: parity[9].queries.multichain.value: Cannot follow path "a.0.e": the selection has no e in a, only b, d',
        '21:152: parity[9].queries.subgraph.value: Cannot follow path "a.b": it ends at b, which has fields: continue with c',
        '22:92: parity[10].queries.multichain.value: Cannot follow path "a.b.c": the selection has no c in b, which has no fields',
        '22:140: parity[10].queries.subgraph.value: Cannot follow path "a.b": the selection begins with as',
        '23:74: parity[11].queries.multichain.select: Cannot fill {chainid} in select: airdrops/multichain/production/base has no value "chainid": did you mean "chain_id"?',
        '23:134: parity[11].queries.subgraph.select: Cannot fill {id} in select: airdrops/subgraph/production/base has no value "id"; for a field, write { id } with spaces',
        "24:91: parity[12].queries.node: Cannot ask node for a value: dialect graph-status asks the index-node API, which has no data",
        "25:76: parity[13].queries.multichain.select: Cannot use this selection: expected one field, found 2",
        "25:115: parity[13].queries.subgraph.select: Cannot use this selection: it is not valid GraphQL: Expected Name, found its end",
      ],
    },
    {
      mistake: "bad-rpc",
      problems: [
        "3:27: chains.base.rpc[0]: Cannot use this URL: expected http:// or https://, found no scheme",
        "3:45: chains.base.rpc[1]: Cannot use placeholders in rpc: write each URL in full",
        "4:33: chains.sepolia.rpc: Cannot use a string: expected a list of URLs",
      ],
    },
    {
      mistake: "bad-size",
      problems: [
        '10:23: poll.max_response: Cannot use "1MB": expected a size such as 512KiB or 1MiB, at most 1GiB',
      ],
    },
    {
      mistake: "bad-thresholds",
      problems: [
        "3:33: chains.base.thresholds: Cannot use thresholds: lagging 45m is above critical 5m",
        "10:13: thresholds: Cannot use thresholds: lagging 10m is above critical 5m",
      ],
    },
    {
      mistake: "chain-called-all",
      problems: [
        '3:3: chains.all: Cannot name a chain "all": this is the name of an endpoint that serves several chains',
      ],
    },
    {
      mistake: "duplicate-chain-id",
      problems: ['4:18: chains.sepolia.id: Cannot use chain id 8453 twice: chain "base" has it too'],
    },
    {
      mistake: "duplicate-key",
      problems: ['10:3: protocols.lockup: Cannot use key "lockup" twice in one map'],
    },
    {
      mistake: "duplicate-slug",
      problems: ['4:3: chains.base: Cannot use key "base" twice in one map'],
    },
    {
      mistake: "empty",
      problems: ["1:1: (file): Cannot use an empty file: expected a map with version, chains and protocols"],
    },
    {
      mistake: "empty-sections",
      problems: [
        "2:9: chains: Cannot use an empty map: expected at least one chain",
        "3:12: protocols: Cannot use an empty map: expected at least one protocol",
      ],
    },
    {
      mistake: "list-as-key",
      problems: ['10:3: ["?"]: Cannot use a list, a map or an alias as a key: expected a name'],
    },
    {
      mistake: "listen-without-host",
      problems: ["10:9: listen: Cannot use 9855: expected HOST:PORT such as 127.0.0.1:9855 or [::1]:9855"],
    },
    {
      mistake: "maintenance-match",
      problems: [
        '11:23: maintenance[0].match.chain: Cannot find chain "sepola" in any indexer: did you mean "sepolia"?',
        '12:26: maintenance[1].match.protocol: Cannot find protocol "flow" in any indexer',
        '13:16: maintenance[2].match.chains: Cannot use unknown key "chains": did you mean "chain"?',
        '14:1: chains_: Cannot use unknown key "chains_": did you mean "chains"?',
      ],
    },
    {
      mistake: "maintenance-of-nothing",
      problems: [
        "14:14: maintenance[0].match: Cannot match variant subgraph, chain sepolia: no indexer matches all of them",
      ],
    },
    {
      mistake: "maintenance-times",
      problems: [
        "11:50: maintenance[0].to: Cannot end a window at 2026-12-01T10:00:00Z: expected a time after its start, 2026-12-01T10:00:00Z",
        "12:5: maintenance[1]: Cannot use a window with from, for: expected from and to, or schedule and for",
        "13:5: maintenance[2]: Cannot use a window with no times: expected from and to, or schedule and for",
        '14:24: maintenance[3].from: Cannot use "2026-12-01 10:00": expected a time with its zone, such as 2026-12-01T10:00:00Z',
        '15:28: maintenance[4].schedule: Cannot use schedule "0 3 * * 0": found five fields, expected six fields, seconds first, such as */15 * * * * *; add the seconds: "0 0 3 * * 0"',
      ],
    },
    {
      mistake: "many-mistakes",
      problems: [
        '3:31: budgets.studio.per: Cannot use "week": expected hour, day or month',
        '6:15: chains.base.id: Cannot use "base": expected a whole number from 1',
        '13:15: protocols.lockup[0].budget: Cannot find budget "gatway" in budgets: did you mean "gateway"?',
        '15:9: protocols.lockup[0].chains.base.id: Cannot fill {id} in url: chain base has no value "id"; use {chain_id} for the chain\'s number',
        '15:17: protocols.lockup[0].chains.base.idd: Cannot use unknown key "idd": no template uses {idd}: did you mean "id"?',
        "17:18: poll.timeout: Cannot use 10: expected a duration such as 250ms, 10s, 5m or 1h",
        '18:33: maintenance[0].match.chain: Cannot find chain "sepola" in any indexer: did you mean "sepolia"?',
      ],
    },
    {
      mistake: "missing-sections",
      problems: [
        "1:1: chains: Cannot find required key: expected a map of chains by slug",
        "1:1: protocols: Cannot find required key: expected a map of protocols, each a list of indexers",
      ],
    },
    {
      mistake: "no-version",
      problems: [
        "1:1: version: Cannot find required key: expected 1, the version of the format that this release reads",
      ],
    },
    {
      mistake: "not-a-map",
      problems: ["1:1: (file): Cannot use a list: expected a map with version, chains and protocols"],
    },
    {
      mistake: "other-version",
      problems: [
        "1:10: version: Cannot use 2: expected 1, the version of the format that this release reads",
      ],
    },
    {
      mistake: "query-in-braces",
      problems: [
        "9:31: (file): Cannot read YAML: missing , or : between flow map items; a GraphQL query cannot be used here: each dialect but custom sends its own queries",
      ],
    },
    {
      mistake: "syntax",
      problems: [
        "10:1: (file): Cannot read YAML: flow sequence in block collection must be sufficiently indented and end with a ]",
      ],
    },
    {
      mistake: "tab",
      problems: [
        "3:1: (file): Cannot read YAML: tabs are not allowed as indentation",
        "4:1: (file): Cannot read YAML: all mapping items must start at the same column",
      ],
    },
    {
      mistake: "tag",
      problems: ["3:15: (file): Cannot read YAML: tags such as !name are not supported"],
    },
    {
      mistake: "two-documents",
      problems: ["10:1: (file): Cannot read a second document: expected a single YAML document"],
    },
    {
      mistake: "unknown-key",
      problems: [
        '10:9: poll.timout: Cannot use unknown key "timout": did you mean "timeout"?',
        '11:1: budget: Cannot use unknown key "budget": did you mean "budgets"?',
        '12:1: foo: Cannot use unknown key "foo": expected version, listen, poll, thresholds, budgets, chains, protocols, maintenance, parity',
      ],
    },
  ])("reports $mistake", ({ mistake, problems }) => {
    expect(problemsOf(mistake)).toEqual(problems);
  });
});
