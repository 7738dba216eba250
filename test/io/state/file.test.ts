import { appendFile, mkdir, readdir, readFile, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { NO_BACK_OFF } from "../../../src/budgets/back-off.ts";
import type { SavedBudgets } from "../../../src/budgets/saved-budgets.ts";
import { Chain } from "../../../src/core/chain/chain.ts";
import type { ChainState } from "../../../src/core/head/chain-state.ts";
import type { Incident } from "../../../src/core/model/report.ts";
import {
  EMPTY_STATE,
  loadState,
  type RestoredState,
  type SavedState,
  writeStateFile,
} from "../../../src/io/state/file.ts";
import { appendToBudgetJournal, writeBudgetJournal } from "../../../src/io/state/journal.ts";
import { resolveStatePath } from "../../../src/io/state/path.ts";
import { BASE, headAt, T0, watch } from "../../core/chain/chain-fixture.ts";
import { type LogLine, recordLog } from "../../support/log-recorder.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

const WATCHED = watch(BASE, "airdrops/multichain", "airdrops/subgraph");
const CHAIN = chainAfter([0, 15_000, 30_000]);
/** In the name of a file that is moved aside. */
const T0_NAME = new Date(T0).toISOString().replace(/[-:.]/g, "");
const INCIDENT: Incident = {
  scope: "host",
  subject: "example.com",
  since: new Date(T0).toISOString(),
  detail: "2 of 2",
  targets: ["a", "b"],
};

describe("loadState()", () => {
  it("gives back what was written", async () => {
    const { restored, lines } = await loadAfter((path) => writeStateFile(path, stateOf()));

    expect(restored.chains["base"]).toEqual(CHAIN);
    expect(restored.incidents).toEqual([INCIDENT]);
    expect(restored.questions).toEqual({ digest: 2 });
    expect(usedOf(restored)).toEqual({ studio: 3 });
    expect(lines).toEqual([]);
  });

  it("is empty without a file", async () => {
    const { restored, lines } = await loadAfter(() => Promise.resolve());

    expect([restored, lines]).toEqual([EMPTY_STATE, []]);
  });

  it("adds each line of the journal except a truncated last line", async () => {
    const { restored, lines } = await loadAfter(async (path) => {
      await writeStateFile(path, stateOf());
      await writeBudgetJournal(path, budgetsOf({ studio: 5, gateway: 1 }));
      await appendToBudgetJournal(path, budgetsOf({ gateway: 2 }));
      await appendToBudgetJournal(path, budgetsOf({ studio: 6 }));
      await appendToBudgetJournal(path, budgetsOf({ studio: 7 }));
      const text = await readFile(`${path}.budgets`, "utf8");
      await writeFile(`${path}.budgets`, text.slice(0, -10));
    });

    expect(usedOf(restored)).toEqual({ studio: 6, gateway: 2 });
    expect(lines).toEqual([]);
  });

  it("ignores what a later version added, and keeps the budgets", async () => {
    const later = { ...stateOf({ budgets: withLaterFields(budgetsOf({ studio: 3 })) }), later: 1 };

    const { restored, lines } = await loadAfter(async (path) => {
      await writeStateFile(path, later);
      await writeBudgetJournal(path, withLaterFields(budgetsOf({ gateway: 1 })));
    });

    expect(usedOf(restored)).toEqual({ studio: 3, gateway: 1 });
    expect(lines).toEqual([]);
  });

  it("restarts a chain with a damaged part, and logs it", async () => {
    const { restored, lines } = await loadAfter(async (path) => {
      await writeStateFile(path, stateOf({ chains: { base: CHAIN, mode: CHAIN } }));
      const text = await readFile(path, "utf8");
      await writeFile(path, text.replace('"block":100,', '"block":101,'));
    });

    expect(Object.keys(restored.chains)).toEqual(["mode"]);
    expect(usedOf(restored)).toEqual({ studio: 3 });
    expect(lines).toMatchObject([{ level: 40, detail: "damaged, and empty now: chain base" }]);
  });

  it("restarts every chain of a file that another version wrote, and keeps the budgets", async () => {
    const { restored, lines } = await loadAfter(async (path) => {
      await writeStateFile(path, stateOf());
      const text = await readFile(path, "utf8");
      await writeFile(path, text.replaceAll(/\[\d{5,},/g, "[1,"));
    });

    expect([restored.chains, restored.incidents, usedOf(restored)]).toEqual([{}, [], { studio: 3 }]);
    expect(lines).toMatchObject([
      { level: 40, detail: "another version of Synclag wrote it: chains and incidents start empty" },
    ]);
  });

  it("uses only the budgets of a file from the future", async () => {
    const { restored, lines } = await loadAfter((path) =>
      writeStateFile(path, stateOf({ savedAtMs: T0 + 3_600_000 })),
    );

    expect([restored.chains, restored.incidents, usedOf(restored)]).toEqual([{}, [], { studio: 3 }]);
    expect(lines).toMatchObject([{ level: 40, detail: expect.stringContaining("the clock was set back") }]);
  });

  it("moves an unusable file aside, and says why", async () => {
    const damaged: Readonly<Record<string, string>> = {
      '{"version":2,"savedAtMs":17': "truncated or damaged",
      "": "it is empty",
      ["\0".repeat(5_000)]: "truncated or damaged",
      ["[".repeat(100_000)]: "truncated or damaged",
      '{"version":2,"savedAtMs":1e308}': "not that of a state file",
      '{"name":"package"}': "not that of a state file",
      '{"version":99}': "a newer Synclag wrote it",
      '{"version":1,"savedAtMs":1}': "an older Synclag wrote it",
      '{"version":2,"savedAtMs":1,"budgets":{"accounts":7}}': "not that of a state file",
    };

    for (const [text, reason] of Object.entries(damaged)) {
      const { restored, lines, files } = await loadAfter((path) => writeFile(path, text));

      expect(restored).toEqual(EMPTY_STATE);
      expect(lines).toMatchObject([{ level: 50, reason: expect.stringContaining(reason) }]);
      expect([...files.values()]).toEqual([text]);
      expect([...files.keys()]).toEqual([`synclag.state.json.broken-${T0_NAME}`]);
    }
  });

  it("uses the readable lines of a damaged journal", async () => {
    const { restored, lines } = await loadAfter(async (path) => {
      await writeStateFile(path, stateOf());
      await writeBudgetJournal(path, budgetsOf({ gateway: 1 }));
      await appendFile(`${path}.budgets`, '{"version":1,"budgets":{"accounts":{},"atMs":1e308}}\n\0\0\n');
      await appendToBudgetJournal(path, budgetsOf({ studio: 6 }));
    });

    expect(usedOf(restored)).toEqual({ studio: 6, gateway: 1 });
    expect(lines).toMatchObject([{ level: 50, reason: "2 of 4 lines are invalid" }]);
  });

  it("reads the state file if its journal cannot be read", async () => {
    for (const text of ["{", "", "{\n{}", '{"version":1,"budgets":[]}', '{"version":2,"budgets":{}}']) {
      const { restored, lines } = await loadAfter(async (path) => {
        await writeStateFile(path, stateOf());
        await writeFile(`${path}.budgets`, text);
      });

      expect(usedOf(restored)).toEqual({ studio: 3 });
      expect(lines).toMatchObject([{ level: 50 }]);
    }
  });
});

describe("writeStateFile()", () => {
  it("keeps a link a link, by the path that it leads to", async () => {
    await using folder = await temporaryFolder();
    const path = join(folder.path, "link.json");
    await mkdir(join(folder.path, "volume"));
    await writeFile(join(folder.path, "volume", "state.json"), "");
    await symlink(join(folder.path, "volume", "state.json"), path);

    await writeStateFile(await resolveStatePath(path), stateOf());

    expect(await readdir(join(folder.path, "volume"))).toEqual(["state.json"]);
    const { chains } = await loadState(path, { logger: recordLog().logger, nowMs: () => T0 });
    expect(chains).toEqual({ base: CHAIN });
  });
});

async function loadAfter(write: (path: string) => Promise<void>): Promise<{
  readonly restored: RestoredState;
  readonly lines: readonly LogLine[];
  readonly files: ReadonlyMap<string, string>;
}> {
  await using folder = await temporaryFolder();
  const path = join(folder.path, "synclag.state.json");
  const { logger, lines } = recordLog();
  await write(path);
  const restored = await loadState(path, { logger, nowMs: () => T0 });
  const files = new Map<string, string>();
  for (const name of await readdir(folder.path)) {
    files.set(name, await readFile(join(folder.path, name), "utf8"));
  }
  return { restored, lines, files };
}

function stateOf(wanted: Partial<SavedState> = {}): SavedState {
  return {
    savedAtMs: T0,
    chains: { base: CHAIN },
    incidents: [INCIDENT],
    budgets: budgetsOf({ studio: 3 }),
    questions: { digest: 2 },
    ...wanted,
  };
}

/** Budgets of which so many polls were spent in one hour. */
function budgetsOf(polls: Readonly<Record<string, number>>): SavedBudgets {
  const accounts = Object.entries(polls).map(([name, count]) => [
    name,
    { buckets: [[T0, count, 0]], backOff: NO_BACK_OFF, sentTo: name },
  ]);
  return { accounts: Object.fromEntries(accounts), atMs: T0 };
}

/** As a later version might write it. */
function withLaterFields(budgets: SavedBudgets): SavedBudgets {
  const text = JSON.stringify(budgets).replaceAll('"buckets":', '"later":1,"buckets":');
  const withFields = JSON.parse(text.replaceAll('"backOff":{', '"backOff":{"later":1,')) as SavedBudgets;
  return Object.assign(withFields, { later: 1 });
}

function usedOf({ budgets }: RestoredState): Readonly<Record<string, number>> {
  const used: Record<string, number> = {};
  for (const [name, { buckets }] of Object.entries(budgets.accounts)) {
    used[name] = buckets.reduce((total, [, scheduled]) => total + scheduled, 0);
  }
  return used;
}

/** The state of a chain whose targets were polled at these instants. */
function chainAfter(instants: readonly number[]): ChainState {
  const chain = new Chain(WATCHED);
  for (const laterMs of instants) {
    for (const { key } of WATCHED.targets) {
      chain.observe(headAt(key, T0 + laterMs, { block: 100 + laterMs / 2_000 }));
    }
  }
  return chain.state;
}
