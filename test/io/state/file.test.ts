import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { pino } from "pino";
import { it } from "vitest";
import { NO_BACK_OFF } from "../../../src/budgets/back-off.ts";
import type { SavedBudgets } from "../../../src/budgets/saved-budgets.ts";
import { Chain } from "../../../src/core/chain/chain.ts";
import { newChainState } from "../../../src/core/chain/chain-state.ts";
import type { Incident } from "../../../src/core/model/report.ts";
import { isoTime } from "../../../src/core/model/text.ts";
import { loadState, writeStateFile } from "../../../src/io/state/file.ts";
import { appendToBudgetJournal, writeBudgetJournal } from "../../../src/io/state/journal.ts";
import { BASE, headAt, T0, watch } from "../../core/chain/chain-fixture.ts";
import { recordLog } from "../../support/log-recorder.ts";
import { expectTold, verbIn } from "../../support/tell.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

const CHAIN = chainState();
const INCIDENT: Incident = {
  ...{ kind: "cause", severity: "warning", scope: "host", subject: "example.com", since: isoTime(T0) },
  ...{ detail: "2 of 2", targets: ["a", "b"] },
};

it("loadState() reads the files as test/fixtures/state-files.txt says", async () => {
  await expectTold("test/fixtures/state-files.txt", async () => keeperIn(await temporaryFolder()));
});

function keeperIn({ path: folder, ...disposable }: Awaited<ReturnType<typeof temporaryFolder>>) {
  const path = join(folder, "state.json");
  const edit = (flags: string) => (file: string, change: string) => {
    const [old = "", next = ""] = change.split(" => ");
    const before = readFileSync(join(folder, file), "utf8");
    writeFileSync(join(folder, file), before.replace(new RegExp(old, flags), written(next)));
  };
  const verbs: Readonly<Record<string, (file: string, rest: string, words: readonly string[]) => unknown>> = {
    state: (_file, _rest, words) =>
      writeStateFile(path, {
        savedAtMs: T0 + (words.includes("later") ? Number(words.at(-1)) : 0),
        chains: { base: CHAIN, ...(words.includes("mode") ? { mode: CHAIN } : {}) },
        incidents: [INCIDENT],
        budgets: budgetsOf(words),
        questions: { digest: 2 },
        notified: [],
      }),
    journal: (_file, _rest, words) => writeBudgetJournal(path, budgetsOf(words)),
    append: (_file, _rest, words) => appendToBudgetJournal(path, budgetsOf(words)),
    text: (file, rest) => writeFileSync(join(folder, file), written(rest)),
    edit: edit(""),
    "edit-all": edit("g"),
    cut(file, bytes) {
      writeFileSync(join(folder, file), readFileSync(join(folder, file)).subarray(0, -Number(bytes)));
    },
  };
  return {
    ...disposable,
    async do(line: string): Promise<readonly string[]> {
      const [verb = "", ...words] = line.split(" ");
      if (verb !== "load") {
        await verbIn(verbs, verb)(words[0] ?? "", words.slice(1).join(" "), words);
        return [];
      }
      const { logger, lines } = recordLog();
      const before = filesIn(folder);
      const { chains, incidents, questions, budgets } = await loadState(path, { logger, nowMs: () => T0 });
      const moved = Object.entries(filesIn(folder)).filter(([name]) => !(name in before));
      const known = [
        ...Object.entries(chains).map(
          ([slug, chain]) => `${slug}${isDeepStrictEqual(chain, CHAIN) ? "" : " differs"}`,
        ),
        ...(isDeepStrictEqual(incidents, [INCIDENT]) ? ["incident"] : incidents),
        ...Object.entries(questions).map(([digest, query]) => `question ${digest} ${query}`),
        ...Object.entries(budgets.accounts).map(([name, { buckets }]) => `${name} ${sum(buckets)}`),
      ];
      return [
        known.join(", ") || "nothing",
        ...lines.map(
          ({ level, reason, detail, msg }) =>
            `${pino.levels.labels[Number(level)]}: ${String(reason ?? detail ?? msg)}`,
        ),
        ...moved.map(([name, text]) => `${name}: ${text === before["state.json"] ? "as it was" : text}`),
      ];
    },
  };
}

function filesIn(folder: string): Readonly<Record<string, string>> {
  return Object.fromEntries(
    readdirSync(folder).map((name) => [name, readFileSync(join(folder, name), "utf8")]),
  );
}

function written(text: string): string {
  const plain = text.replaceAll("\\n", "\n").replaceAll("\\0", "\0");
  return plain.replace(/(.)\{(\d+)\}/g, (_, char: string, count: string) => char.repeat(Number(count)));
}

/** Budgets from `studio=3`: this number of polls was spent in one hour. */
function budgetsOf(words: readonly string[]): SavedBudgets {
  const accounts = words.flatMap((word) => {
    const [name = "", polls] = word.split("=");
    const spent = { buckets: [[T0, Number(polls), 0] as const], backOff: NO_BACK_OFF, sentTo: name };
    return polls === undefined ? [] : [[name, spent] as const];
  });
  return { accounts: Object.fromEntries(accounts), atMs: T0 };
}

function sum(buckets: SavedBudgets["accounts"][string]["buckets"]): number {
  return buckets.reduce((total, [, scheduled]) => total + scheduled, 0);
}

/** The state of a chain whose targets were polled three times. */
function chainState() {
  const watched = watch(BASE, "airdrops/multichain", "airdrops/subgraph");
  const chain = new Chain(watched, T0, newChainState(0));
  for (const laterMs of [0, 15_000, 30_000]) {
    for (const { key } of watched.targets) {
      chain.observe(headAt(key, T0 + laterMs, { block: 100 + laterMs / 2_000 }));
    }
    chain.decide(T0 + laterMs);
  }
  return chain.state;
}
