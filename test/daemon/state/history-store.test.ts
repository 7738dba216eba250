import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { ChainHistory, type SavedHistory } from "../../../src/core/history/history.ts";
import { HistoryStore, historyPathOf, writeHistory } from "../../../src/daemon/state/history-store.ts";
import { recordLog } from "../../support/log-recorder.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { NOW_MS, sampleChain, sampleChainReport } from "../../views/sample-report.ts";

describe("HistoryStore", () => {
  it("reads what was written, one line for each chain", async () => {
    await using folder = await temporaryFolder();
    const stateFile = join(folder.path, "synclag.state.json");
    const saved = ["base", "form"].map(historyOf);

    await writeHistory(stateFile, saved);

    const lines = (await readFile(historyPathOf(stateFile), "utf8")).trimEnd().split("\n");
    expect(lines.map((line) => line.split("\t")[0])).toEqual(["base", "form"]);
    expect(await openedOn(stateFile)).toEqual({ saved, messages: [] });
  });

  it("starts a chain empty if its line is truncated or lacks numbers", async () => {
    await using folder = await temporaryFolder();
    const stateFile = join(folder.path, "synclag.state.json");
    await writeHistory(stateFile, [historyOf("form"), historyOf("base")]);
    const text = await readFile(historyPathOf(stateFile), "utf8");
    const at = text.indexOf("\nbase") + 1;
    const [form, base] = [text.slice(0, at), text.slice(at)];
    const damaged = [
      base.slice(0, -20),
      base.replace(/"timesMs":"[^"]*"/, '"timesMs":"<b>"'),
      base.replace(/"timesMs":"[^"]*"/, '"timesMs":"AAAA"'),
      base.replace(/"values":".{8}/, '"values":"AACAfwAA'),
      '{"version":1,"chains":{}}\n',
    ];

    for (const one of damaged) {
      await writeFile(historyPathOf(stateFile), `${form}${one}`);
      const messages = ["History file damaged, or of another version; these plots start empty"];
      expect(await openedOn(stateFile)).toEqual({ saved: [historyOf("form")], messages });
    }
  });

  it("starts empty without a file, and after a process that recorded nothing", async () => {
    await using folder = await temporaryFolder();
    const stateFile = join(folder.path, "state.json");

    expect(await openedOn(stateFile)).toEqual({ saved: [], messages: [] });
    expect(await openedOn(stateFile)).toEqual({ saved: [], messages: [] });
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
