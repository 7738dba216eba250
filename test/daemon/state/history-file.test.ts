import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { Recorder } from "../../../src/daemon/state/recorder.ts";
import {
  HISTORY_SHAPE,
  historyPathOf,
  readHistoryFile,
  writeHistoryFile,
} from "../../../src/io/state/history-file.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { NOW_MS, sampleChain, sampleChainReport } from "../../views/sample-report.ts";

describe("writeHistoryFile()", () => {
  it("writes a line for each chain, because all of a large fleet would be longer than a string can be", async () => {
    await using folder = await temporaryFolder();
    const state = join(folder.path, "synclag.state.json");
    const saved = ["base", "form"].flatMap((slug) => [...recorderOf(slug).save()]);

    await writeHistoryFile(state, saved);

    const lines = (await readFile(historyPathOf(state), "utf8")).trimEnd().split("\n");
    expect(lines.map((line): unknown => JSON.parse(line))).toMatchObject([
      { version: HISTORY_SHAPE },
      [expect.any(Number), { slug: "base", fine: {}, coarse: {} }],
      [expect.any(Number), { slug: "form", fine: {}, coarse: {} }],
    ]);
    expect(await readHistoryFile(state)).toEqual({ kind: "history", chains: Object.fromEntries(saved) });
  });
});

describe("readHistoryFile()", () => {
  it("is empty where there is none", async () => {
    await using folder = await temporaryFolder();

    expect(await readHistoryFile(join(folder.path, "none"))).toEqual({ kind: "history", chains: {} });
  });

  it("is invalid where the file is cut off, or has no numbers where it should", async () => {
    await using folder = await temporaryFolder();
    const state = join(folder.path, "synclag.state.json");
    await writeHistoryFile(state, recorderOf("base").save());
    const text = await readFile(historyPathOf(state), "utf8");
    const damaged = [
      text.slice(0, -20),
      text.replace(/"timesMs":"[^"]*"/, '"timesMs":"<b>"'),
      text.replace(/"timesMs":"[^"]*"/, '"timesMs":"AAAA"'),
      text.replace(/"values":".{8}/, '"values":"AACAfwAA'),
    ];

    for (const one of damaged) {
      await writeFile(historyPathOf(state), one);
      expect(await readHistoryFile(state)).toMatchObject({ kind: "invalid" });
    }
  });

  it("is empty for one of another version", async () => {
    await using folder = await temporaryFolder();
    const state = join(folder.path, "synclag.state.json");

    await writeFile(historyPathOf(state), '{"version":1,"chains":{}}\n');

    expect(await readHistoryFile(state)).toEqual({ kind: "history", chains: {} });
  });
});

function recorderOf(slug: string): Recorder {
  const recorder = new Recorder();
  recorder.record(sampleChainReport({ chain: sampleChain({ slug }) }), NOW_MS);
  return recorder;
}
