import { readdir, readFile, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it, vi } from "vitest";
import type { App } from "../../../src/app/app.ts";
import { type SimulatedFleet, startFleet } from "../../../src/sim/fleet/simulated-fleet.ts";
import { type LogLine, recordLog } from "../../support/log-recorder.ts";
import { configOf, startTestApp } from "../../support/running-app.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

vi.setConfig({ testTimeout: 300_000 });

/** What replaces a value of a file, one value at a time. */
const VALUES: readonly unknown[] = [
  ...[1e308, -1e308, 1e18, 2 ** 53, 2 ** 53 - 1, -1, 0, 0.5],
  ...[null, "", "x", "NaN", "1e308", "\0", [], {}, [[[]]], true, false],
];
/** One of so many replacements is tried, for all of them would take an hour. */
const SAMPLED = 151;
/** With 1e308 these are always tried: each once ended the process. */
const INSTANTS = ["savedAtMs", "untilMs", "receivedAtMs", "sinceMs"];

const PATHS = [
  "/",
  "/chains/base",
  "/chains/ethereum",
  "/plan",
  "/metrics",
  "/api/v1/status",
  "/api/v1/history/airdrops/base",
  "/api/v1/health/airdrops/ethereum",
];

/** What the daemon keeps beside its state file, by the ending of the name. */
type Files = Readonly<Record<string, string>>;

describe("a start from a damaged file", () => {
  it("serves every page, and calls nothing healthy that was not, whatever value is replaced", async () => {
    await using fleet = await startIndexers();
    const { files, nowMs } = await savedBy(fleet);
    const undamaged = await startFrom(files, { fleet, nowMs });
    const problems: string[] = [];

    for (const { name, text } of replacementsIn(files)) {
      const { found, ok } = await startFrom({ ...files, ...text }, { fleet, nowMs });
      const wrong = ok.filter((key) => !undamaged.ok.includes(key)).map((key) => `${key} is ok`);
      problems.push(...[...found, ...wrong].map((problem) => `${name}: ${problem}`));
    }

    expect(undamaged).toMatchObject({
      found: [],
      ok: expect.arrayContaining([expect.any(String)]),
      lines: [],
    });
    expect(problems).toEqual([]);
  });

  it.each([
    { case: "full of NUL", damage: () => "\0".repeat(10_000) },
    { case: "truncated in the first line", damage: (text: string) => text.slice(0, 9) },
    { case: "truncated in the middle", damage: (text: string) => text.slice(0, text.length / 2) },
    { case: "nested a million times", damage: () => `{"version":1,"savedAtMs":${"[".repeat(1_000_000)}` },
  ])("names each file that is $case", async ({ damage }) => {
    await using fleet = await startIndexers();
    const { files, nowMs } = await savedBy(fleet);
    const damaged = Object.fromEntries(Object.entries(files).map(([name, text]) => [name, damage(text)]));

    const { found, lines } = await startFrom(damaged, { fleet, nowMs });

    expect(found).toEqual([]);
    expect(lines.map(({ msg }) => msg).toSorted()).toEqual(WARNINGS);
  });

  it("reads no file that is longer than any can be", async () => {
    await using fleet = await startIndexers();
    const long = { "": "", ".history": "", ".budgets": "" };

    const { found, lines } = await startFrom(long, { fleet, nowMs: Date.now(), bytes: 1_000_000_000 });

    expect(found).toEqual([]);
    expect(lines.map(({ msg }) => msg).toSorted()).toEqual(WARNINGS);
    expect(lines.map(({ reason }) => reason)).toEqual(WARNINGS.map(() => "it is longer than 500 MB"));
  });
});

const WARNINGS = [
  "Budget journal damaged; budgets may be undercounted",
  "History file invalid, moved aside; the plots start empty",
  "State file invalid, moved aside; starting with empty state and budgets",
];

interface Start {
  /** What went wrong. */
  readonly found: readonly string[];
  /** Keys of the targets that are `ok`. */
  readonly ok: readonly string[];
  readonly lines: readonly LogLine[];
}

/** Starts a daemon on these files at this instant, and reads everything that it serves. */
async function startFrom(
  files: Files,
  {
    fleet,
    nowMs,
    bytes,
  }: { readonly fleet: SimulatedFleet; readonly nowMs: number; readonly bytes?: number },
): Promise<Start> {
  await using folder = await temporaryFolder();
  const stateFile = join(folder.path, "synclag.state.json");
  for (const [ending, text] of Object.entries(files)) {
    await writeFile(`${stateFile}${ending}`, text);
    await truncate(`${stateFile}${ending}`, bytes ?? Buffer.byteLength(text));
  }
  const found: string[] = [];
  const { logger, lines } = recordLog();
  const onBug = (error: unknown) => found.push(String(error));
  try {
    const config = configOf(chainsYaml(fleet, "0 0 0 1 1 *"));
    await using app = await startTestApp(config, { stateFile, logger, onBug, nowMs: () => nowMs });
    const targets = app.report().chains.flatMap((chain) => chain.targets);
    const ok = targets.flatMap(({ target, status }) => (status === "ok" ? [target.key] : []));
    for (const path of PATHS) {
      const reply = await fetch(`${app.url}${path}`);
      const text = (await reply.text()).replaceAll(/<(script|style)[\s\S]*?<\/\1>/g, "");
      const expected = path.includes("/health/") ? [200, 503] : [200];
      if (!expected.includes(reply.status) || /\bInfinity\b|Invalid Date/.test(text)) {
        found.push(`${path}: ${reply.status} ${text.slice(0, 200)}`);
      }
    }
    return { found, ok, lines: lines.filter(({ level }) => Number(level) >= 40) };
  } catch (error) {
    return { found: [...found, String(error)], ok: [], lines };
  }
}

/** Runs a daemon until its state has every section; what it leaves when it is stopped, with the journal of before. */
async function savedBy(fleet: SimulatedFleet): Promise<{ readonly files: Files; readonly nowMs: number }> {
  await using folder = await temporaryFolder();
  const stateFile = join(folder.path, "synclag.state.json");
  const app = await startTestApp(configOf(chainsYaml(fleet, "* * * * * *")), { stateFile });
  await vi.waitFor(() => expectEverything(app), 60_000);
  const journal = await readFile(`${stateFile}.budgets`, "utf8");
  await app[Symbol.asyncDispose]();
  expect((await readdir(folder.path)).toSorted()).toEqual([
    "synclag.state.json",
    "synclag.state.json.history",
  ]);
  return {
    files: {
      "": await readFile(stateFile, "utf8"),
      ".history": await readFile(`${stateFile}.history`, "utf8"),
      ".budgets": journal,
    },
    nowMs: Date.now(),
  };
}

function expectEverything(app: App): void {
  const { chains, incidents, budgets } = app.report();
  const targets = chains.flatMap((chain) => chain.targets);
  expect(incidents).not.toEqual([]);
  expect(budgets.map(({ backOff }) => backOff)).toEqual([expect.any(String)]);
  expect(chains.flatMap(({ parity }) => parity.map(({ result }) => result))).toContain("equal");
  expect(chains.flatMap(({ gaps }) => gaps)).not.toEqual([]);
  expect(targets.map(({ status }) => status)).toEqual(
    expect.arrayContaining(["ok", "lagging", "throttled", "unreachable"]),
  );
}

interface Replacement {
  readonly name: string;
  readonly text: Files;
}

/** Each file with one value replaced, for some of the values. */
function replacementsIn(files: Files): readonly Replacement[] {
  const all = Object.entries(files).flatMap(([ending, text]) => {
    const lines = text.trimEnd().split("\n");
    return lines
      .slice(0, 3)
      .flatMap((line, number) =>
        [...pathsOf(JSON.parse(line))].flatMap((path) =>
          VALUES.map((value) => ({ ending, lines, number, path, value })),
        ),
      );
  });
  return all
    .filter(
      ({ path, value }, index) =>
        index % SAMPLED === 0 || (value === 1e308 && INSTANTS.includes(path.at(-1) ?? "")),
    )
    .map(({ ending, lines, number, path, value }) => {
      const replaced = JSON.stringify(withValue(JSON.parse(lines[number] ?? ""), path, value));
      return {
        name: `${ending || "state"} ${path.join("/")} = ${JSON.stringify(value)}`,
        text: { [ending]: `${lines.with(number, replaced).join("\n")}\n` },
      };
    });
}

/** The paths to all values; of a list, to those of its last item only. */
function* pathsOf(value: unknown, path: readonly string[] = []): Iterable<readonly string[]> {
  if (path.length > 0) {
    yield path;
  }
  if (typeof value === "object" && value !== null) {
    const entries = Object.entries(value);
    for (const [key, inner] of Array.isArray(value) ? entries.slice(-1) : entries) {
      yield* pathsOf(inner, [...path, key]);
    }
  }
}

function withValue(value: unknown, [key, ...rest]: readonly string[], wanted: unknown): unknown {
  if (key === undefined) {
    return wanted;
  }
  if (Array.isArray(value)) {
    return value.with(Number(key), withValue(value[Number(key)], rest, wanted));
  }
  return { ...Object(value), [key]: withValue(Object(value)[key], rest, wanted) };
}

async function startIndexers(): Promise<SimulatedFleet> {
  const fleet = await startFleet({
    nowMs: Date.now,
    endpoints: [
      { kind: "envio", key: "airdrops/multichain/production/all", chains: ["base", "ethereum"] },
      { kind: "graph-node", key: "airdrops/subgraph/production/base", chains: ["base"] },
      { kind: "graph-node", key: "airdrops/subgraph/production/ethereum", chains: ["ethereum"] },
      { kind: "studio", key: "flow/subgraph/production/base", chains: ["base"] },
      { kind: "squid", key: "flow/squid/production/base", chains: ["base"] },
      { kind: "squid", key: "flow/squid/production/ethereum", chains: ["ethereum"] },
      { kind: "ponder", key: "flow/ponder/production/base", chains: ["base"] },
      { kind: "rpc", key: "rpc/base", chains: ["base"] },
    ],
  });
  fleet.target("airdrops/subgraph/production/ethereum").set({ lagMs: 3_600_000 });
  fleet.endpoint("flow/subgraph/production/base").fail("http_429_retry_after");
  fleet.endpoint("flow/squid/production/base").fail("http_502");
  fleet.endpoint("flow/squid/production/ethereum").fail("http_502");
  fleet.endpoint("flow/ponder/production/base").fail("http_429");
  return fleet;
}

function chainsYaml(fleet: SimulatedFleet, schedule: string): string {
  const url = (key: string): string => fleet.endpoint(key).url;
  return `
version: 1
budgets:
  studio: { limit: 4000, per: hour, scope: endpoint }
chains:
  base: { id: 8453, block_time: 2s, rpc: ["${url("rpc/base")}"] }
  ethereum: { id: 1, block_time: 12s }
protocols:
  airdrops:
    - variant: multichain
      dialect: envio
      url: ${url("airdrops/multichain/production/all")}
      schedule: "${schedule}"
      chains: [base, ethereum]
    - variant: subgraph
      dialect: graph
      schedule: "${schedule}"
      chains:
        base: { url: "${url("airdrops/subgraph/production/base")}" }
        ethereum: { url: "${url("airdrops/subgraph/production/ethereum")}" }
  flow:
    - variant: subgraph
      dialect: graph
      schedule: "${schedule}"
      chains:
        base: { url: "${url("flow/subgraph/production/base")}", budget: studio }
    - variant: squid
      dialect: squid
      schedule: "${schedule}"
      chains:
        base: { url: "${url("flow/squid/production/base")}" }
        ethereum: { url: "${url("flow/squid/production/ethereum")}" }
    - variant: ponder
      dialect: ponder
      schedule: "${schedule}"
      chains:
        base: { url: "${url("flow/ponder/production/base")}" }
parity:
  - name: campaigns
    protocol: airdrops
    every: 1m
    queries:
      multichain: { select: 'Campaign(where: {chainId: {_eq: "{chain_id}"}}, order_by: {subgraphId: desc}, limit: 1) { subgraphId }', value: Campaign.0.subgraphId }
      subgraph: { select: 'campaigns(orderBy: subgraphId, orderDirection: desc, first: 1) { subgraphId }', value: campaigns.0.subgraphId }
`;
}
