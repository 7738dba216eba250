import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { ChainHistory, type SavedHistory } from "../../../src/core/history/history.ts";
import {
  HISTORY_SHAPE,
  HistoryStore,
  historyPathOf,
  writeHistory,
} from "../../../src/daemon/state/history-store.ts";
import { recordLog } from "../../support/log-recorder.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { NOW_MS, sampleChain, sampleChainReport } from "../../views/sample-report.ts";

describe("HistoryStore", () => {
  it("continues what was written, a line for each chain", async () => {
    await using folder = await temporaryFolder();
    const stateFile = join(folder.path, "synclag.state.json");
    const saved = ["base", "form"].map(historyOf);

    await writeHistory(stateFile, saved);

    const lines = (await readFile(historyPathOf(stateFile), "utf8")).trimEnd().split("\n");
    expect(lines.map((line): unknown => JSON.parse(line))).toMatchObject([
      { version: HISTORY_SHAPE },
      [expect.any(Number), { slug: "base", series: expect.any(Array) }],
      [expect.any(Number), { slug: "form", series: expect.any(Array) }],
    ]);
    expect(await openedOn(stateFile)).toEqual({ saved, messages: [] });
  });

  it("moves a file aside that is cut off, or lacks numbers", async () => {
    await using folder = await temporaryFolder();
    const stateFile = join(folder.path, "synclag.state.json");
    await writeHistory(stateFile, [historyOf("base")]);
    const text = await readFile(historyPathOf(stateFile), "utf8");
    const damaged = [
      text.slice(0, -20),
      text.replace(/"timesMs":"[^"]*"/, '"timesMs":"<b>"'),
      text.replace(/"timesMs":"[^"]*"/, '"timesMs":"AAAA"'),
      text.replace(/"values":".{8}/, '"values":"AACAfwAA'),
    ];

    for (const one of damaged) {
      await writeFile(historyPathOf(stateFile), one);
      const messages = ["History file invalid, moved aside; the plots start empty"];
      expect(await openedOn(stateFile)).toEqual({ saved: [], messages });
    }
    expect((await readdir(folder.path)).filter((name) => name.includes(".history.broken-"))).not.toEqual([]);
  });

  it("starts empty without a file, and with one of another version", async () => {
    await using folder = await temporaryFolder();
    const stateFile = join(folder.path, "synclag.state.json");

    const none = await openedOn(stateFile);
    await writeFile(historyPathOf(stateFile), '{"version":1,"chains":{}}\n');

    expect([none, await openedOn(stateFile)]).toEqual([EMPTY, EMPTY]);
  });

  it("continues without its file, and logs it", async () => {
    await using folder = await temporaryFolder();
    const stateFile = join(folder.path, "synclag.state.json");
    await mkdir(historyPathOf(stateFile));

    expect((await openedOn(stateFile)).messages).toEqual([
      "Cannot read the history file; the plots start empty",
      "Cannot write the history file",
    ]);
  });
});

const EMPTY = { saved: [], messages: [] };

/** What a store continues, and what it logs until its end. */
async function openedOn(stateFile: string) {
  const { logger, lines } = recordLog();
  const history = await HistoryStore.open({ logger, stateFile, nowMs: () => NOW_MS });
  const saved = [...history.save()];
  await history[Symbol.asyncDispose]();
  return { saved, messages: lines.map(({ msg }) => msg) };
}

function historyOf(slug: string): readonly [slug: string, history: SavedHistory] {
  const history = new ChainHistory();
  history.record(sampleChainReport({ chain: sampleChain({ slug }) }), NOW_MS);
  return [slug, history.save()];
}
