import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { HistoryStore } from "../../../src/daemon/state/history-store.ts";
import { historyPathOf } from "../../../src/io/state/history-file.ts";
import { recordLog } from "../../support/log-recorder.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { NOW_MS } from "../../views/sample-report.ts";

describe("HistoryStore", () => {
  it("goes on without its file, and says so", async () => {
    await using folder = await temporaryFolder();
    const stateFile = join(folder.path, "synclag.state.json");
    await mkdir(historyPathOf(stateFile));
    const { logger, lines } = recordLog();

    const history = await HistoryStore.open({ logger, stateFile, nowMs: () => NOW_MS });
    await history[Symbol.asyncDispose]();

    expect(lines.map(({ msg }) => msg)).toEqual([
      "Cannot read the history file; the plots start empty",
      "Cannot write the history file",
    ]);
  });
});
