import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { Recorder } from "../../../src/daemon/state/recorder.ts";
import { historyPathOf, readHistoryFile, writeHistoryFile } from "../../../src/io/state/history-file.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import {
  NOW_MS,
  sampleChain,
  sampleChainReport,
  sampleReport,
  sampleTarget,
} from "../../views/sample-report.ts";

const KEY = sampleTarget().key;
const SPAN = { fromMs: 0, toMs: NOW_MS, points: 1_000 };

describe("Recorder", () => {
  it("tells the past of a chain", () => {
    const recorder = recorderOf("base");

    expect(recorder.past("base", [KEY], SPAN).targets[KEY]?.lagMs.at(-1)).toBe(4_000);
  });

  it("tells nothing of a chain that it does not know", () => {
    expect(recorderOf("base").past("else", [KEY], SPAN).timesMs).toEqual([]);
  });

  it("forgets a chain that is no longer watched", () => {
    const recorder = recorderOf("base");

    recorder.retain(sampleReport({ chains: [sampleChainReport({ chain: sampleChain({ slug: "form" }) })] }));

    expect([...recorder.save()]).toEqual([]);
  });

  it("goes on with what a former process has written", async () => {
    await using folder = await temporaryFolder();
    const state = join(folder.path, "synclag.state.json");
    const recorder = new Recorder();

    await writeHistoryFile(state, recorderOf("base").save());
    const found = await readHistoryFile(state);
    recorder.restore(found.kind === "history" ? found.chains : {});

    expect(recorder.past("base", [KEY], SPAN).targets[KEY]?.lagMs.at(-1)).toBe(4_000);
  });
});

describe("writeHistoryFile()", () => {
  it("writes a line for each chain, for all of a large fleet would be longer than a string can be", async () => {
    await using folder = await temporaryFolder();
    const state = join(folder.path, "synclag.state.json");
    const saved = ["base", "form"].flatMap((slug) => [...recorderOf(slug).save()]);

    await writeHistoryFile(state, saved);

    const lines = (await readFile(historyPathOf(state), "utf8")).trimEnd().split("\n");
    expect(lines.map((line): unknown => JSON.parse(line))).toMatchObject([
      { version: 4 },
      { slug: "base", fine: {}, coarse: {} },
      { slug: "form", fine: {}, coarse: {} },
    ]);
    expect(await readHistoryFile(state)).toEqual({ kind: "history", chains: Object.fromEntries(saved) });
  });
});

describe("readHistoryFile()", () => {
  it("is empty where there is none", async () => {
    await using folder = await temporaryFolder();

    expect(await readHistoryFile(join(folder.path, "none"))).toEqual({ kind: "history", chains: {} });
  });

  it.each([
    { case: "cut off", damage: (text: string) => text.slice(0, -20) },
    { case: "not of base64", damage: (text: string) => text.replace(/"timesMs":"[^"]*"/, '"timesMs":"<b>"') },
    {
      case: "not of whole numbers",
      damage: (text: string) => text.replace(/"timesMs":"[^"]*"/, '"timesMs":"AAAA"'),
    },
    {
      case: "not of finite numbers",
      damage: (text: string) => text.replace(/"float32":".{8}/, '"float32":"AACAfwAA'),
    },
  ])("is invalid for one that is $case", async ({ damage }) => {
    await using folder = await temporaryFolder();
    const state = join(folder.path, "synclag.state.json");
    await writeHistoryFile(state, recorderOf("base").save());
    const text = await readFile(historyPathOf(state), "utf8");

    await writeFile(historyPathOf(state), damage(text));

    expect(await readHistoryFile(state)).toMatchObject({ kind: "invalid" });
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
