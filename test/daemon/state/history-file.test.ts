import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { ChainHistory, type SavedHistory } from "../../../src/core/history/history.ts";
import {
  HISTORY_SHAPE,
  historyPathOf,
  readHistoryFile,
  writeHistoryFile,
} from "../../../src/io/state/history-file.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { NOW_MS, sampleChain, sampleChainReport } from "../../views/sample-report.ts";

describe("writeHistoryFile()", () => {
  it("writes a line for each chain", async () => {
    await using folder = await temporaryFolder();
    const state = join(folder.path, "synclag.state.json");
    const saved = ["base", "form"].map(historyOf);

    await writeHistoryFile(state, saved);

    const lines = (await readFile(historyPathOf(state), "utf8")).trimEnd().split("\n");
    expect(lines.map((line): unknown => JSON.parse(line))).toMatchObject([
      { version: HISTORY_SHAPE },
      [expect.any(Number), { slug: "base", fine: {}, coarse: {} }],
      [expect.any(Number), { slug: "form", fine: {}, coarse: {} }],
    ]);
    expect(await readHistoryFile(state)).toEqual(Object.fromEntries(saved));
  });
});

describe("readHistoryFile()", () => {
  it("is empty where there is none", async () => {
    await using folder = await temporaryFolder();

    expect(await readHistoryFile(join(folder.path, "none"))).toEqual({});
  });

  it("is invalid where the file is cut off, or has no numbers where it should", async () => {
    await using folder = await temporaryFolder();
    const state = join(folder.path, "synclag.state.json");
    await writeHistoryFile(state, [historyOf("base")]);
    const text = await readFile(historyPathOf(state), "utf8");
    const damaged = [
      text.slice(0, -20),
      text.replace(/"timesMs":"[^"]*"/, '"timesMs":"<b>"'),
      text.replace(/"timesMs":"[^"]*"/, '"timesMs":"AAAA"'),
      text.replace(/"values":".{8}/, '"values":"AACAfwAA'),
    ];

    for (const one of damaged) {
      await writeFile(historyPathOf(state), one);
      expect(await readHistoryFile(state)).toBe("it is damaged");
    }
  });

  it("is empty for one of another version", async () => {
    await using folder = await temporaryFolder();
    const state = join(folder.path, "synclag.state.json");

    await writeFile(historyPathOf(state), '{"version":1,"chains":{}}\n');

    expect(await readHistoryFile(state)).toEqual({});
  });
});

function historyOf(slug: string): readonly [slug: string, history: SavedHistory] {
  const history = new ChainHistory();
  history.record(sampleChainReport({ chain: sampleChain({ slug }) }), NOW_MS);
  return [slug, history.save()];
}
