import { readFileSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { loadState, writeStateFile } from "../../src/io/state/file.ts";
import { STATE_SHAPE } from "../../src/io/state/seal.ts";
import { TIMES } from "../support/fast-check-seed.ts";
import { FAULTS } from "../support/faults.ts";
import { expectGolden } from "../support/golden.ts";
import { recordLog } from "../support/log-recorder.ts";
import { type Scenario, startScenario } from "../support/scenario.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

/** What replaces a value of the state file, one value at a time. */
const VALUES: readonly unknown[] = [
  ...[1e308, -1e308, 1e18, 2 ** 53, -1, 0, 0.5],
  ...[null, "", "x", "1e308", "\0", [], {}, [[[]]], true],
];
/** Every `SAMPLED`th replacement is tried, because all of them would take minutes. */
const SAMPLED = Math.ceil(97 / TIMES);
/** With 1e308 these are always tried: each once ended the process. */
const INSTANTS = ["savedAtMs", "untilMs", "receivedAtMs", "sinceMs"];

const FLEET = readFileSync("test/fixtures/damaged-state.yaml", "utf8");

describe("a start from a state file with a damaged value", () => {
  it("shows every page, and calls no target ok that was not ok, whichever value is damaged", async () => {
    await using folder = await temporaryFolder();
    const path = join(folder.path, "synclag.state.json");
    await using play = await startScenario(FLEET);
    await playEverything(play);
    const state = await writtenBy(play, path);
    const problems: string[] = [];

    await startFrom(play, path, state);
    const undamaged = okIn(play);
    for (const { name, damaged } of replacementsIn(state)) {
      await startFrom(play, path, damaged);
      const wrong = okIn(play).filter((key) => !undamaged.includes(key));
      problems.push(...[...wrong, ...unreadableIn(play)].map((problem) => `${name}: ${problem}`));
    }

    expect(undamaged).not.toEqual([]);
    expect(problems).toEqual([]);
  });
});

describe("the state of a chain", () => {
  it("has the keys of test/goldens/state-shape.txt: raise STATE_SHAPE when you change them", async () => {
    await using play = await startScenario(FLEET);
    await playEverything(play);
    const { chains, incidents } = play.saved();

    const fields = [...pathsOf({ ...chains, incidents })]
      .map((path) => path.map((key) => (/^(base|ethereum|\d+|.*\/.*)$/.test(key) ? "*" : key)).join("."))
      .filter((path, index, all) => all.indexOf(path) === index)
      .toSorted();

    expectGolden("test/goldens/state-shape.txt", [`STATE_SHAPE = ${STATE_SHAPE}`, ...fields, ""].join("\n"));
  });
});

/** Runs until the state has every section. */
async function playEverything(play: Scenario): Promise<void> {
  play.fleet.target("airdrops/subgraph/production/ethereum").set({ lagMs: 3_600_000 });
  play.fleet.endpoint("flow/subgraph/production/base").fail(FAULTS.http_429);
  play.setHost("squid.example", "down");
  await play.run("6m");
  const { parity, incidents, budgets } = play.report();
  expect(incidents).not.toEqual([]);
  expect(budgets.map(({ detail }) => detail)).toEqual([expect.any(String)]);
  expect(parity.map(({ result }) => result)).toContain("equal");
  expect(new Set(play.report().targets.map(({ status }) => status))).toEqual(
    new Set(["ok", "lagging", "throttled", "unreachable"]),
  );
}

async function writtenBy(play: Scenario, path: string): Promise<unknown> {
  await writeStateFile(path, play.saved());
  const [head = "", ...lines] = (await readFile(path, "utf8")).trimEnd().split("\n");
  const parts = lines
    .map((line) => line.split("\t"))
    .map(([name = "", text = ""]): [string, unknown] => [name, JSON.parse(text)]);
  return { head: JSON.parse(head), ...Object.fromEntries(parts) };
}

/** Starts the daemon on this file, without time for a poll. */
async function startFrom(play: Scenario, path: string, state: unknown): Promise<void> {
  const { head, ...parts } = state as Readonly<Record<string, unknown>>;
  const lines = Object.entries(parts).map(([name, value]) => `${name}\t${JSON.stringify(value)}`);
  await writeFile(path, [JSON.stringify(head), ...lines].join("\n"));
  const { logger } = recordLog();
  await play.restart({ state: await loadState(path, { logger, nowMs: Date.now }) });
}

function okIn(play: Scenario): readonly string[] {
  return play.report().targets.flatMap(({ status, key }) => (status === "ok" ? [key] : []));
}

function unreadableIn(play: Scenario): readonly string[] {
  const outputs = [play.page(), play.page("base"), play.page("ethereum"), play.check().text];
  const texts = [...outputs, play.metrics(), JSON.stringify(play.report())];
  return texts
    .filter((text) => /\bInfinity\b|Invalid Date|\bNaN\b/.test(text))
    .map((text) => text.slice(0, 200));
}

/** The state with one value replaced, for some of the values. */
function replacementsIn(state: unknown): readonly { readonly name: string; readonly damaged: unknown }[] {
  return [...pathsOf(state)]
    .flatMap((path) => VALUES.map((value) => ({ path, value })))
    .filter(
      ({ path, value }, index) =>
        index % SAMPLED === 0 || (value === 1e308 && INSTANTS.includes(path.at(-1) ?? "")),
    )
    .map(({ path, value }) => ({
      name: `${path.join("/")} = ${JSON.stringify(value)}`,
      damaged: withValue(state, path, value),
    }));
}

/** The paths to all values; of a list, only to those of its last item. */
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

function withValue(state: unknown, path: readonly string[], wanted: unknown): unknown {
  const copy = structuredClone(state);
  const parent = path.slice(0, -1).reduce<unknown>((inner, key) => Reflect.get(Object(inner), key), copy);
  Reflect.set(Object(parent), path.at(-1) ?? "", wanted);
  return copy;
}
