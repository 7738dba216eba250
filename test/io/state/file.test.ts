import { mkdir, readdir, readFile, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { NOTHING_SPENT } from "../../../src/budgets/saved-budgets.ts";
import { readStateFile, writeStateFile } from "../../../src/io/state/file.ts";
import { resolveStatePath } from "../../../src/io/state/path.ts";
import { recordLog } from "../../support/log-recorder.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

const T0 = Date.UTC(2026, 10, 20, 10, 37, 21, 5);
const nowMs = (): number => T0;

// test/daemon/state/load.test.ts has what can be wrong with a file.
describe("readStateFile()", () => {
  it("moves aside what it cannot use, named by the time, and finds none after it", async () => {
    await using folder = await temporaryFolder();
    const path = join(folder.path, "synclag.state.json");
    await writeFile(path, '{"version":3}');

    const { logger, lines } = recordLog();
    const found = [
      await readStateFile(path, { logger, nowMs }),
      await readStateFile(path, { logger, nowMs }),
    ];

    const movedTo = `${path}.broken-20261120T103721005Z`;
    const reason = "a newer Synclag wrote it: version 3, and this one reads 2";
    expect(found).toEqual([null, null]);
    expect(lines).toMatchObject([{ level: 50, reason, movedTo }]);
    expect(await readFile(movedTo, "utf8")).toBe('{"version":3}');
  });
});

describe("writeStateFile()", () => {
  it("keeps a link a link, by the path that it leads to", async () => {
    await using folder = await temporaryFolder();
    const path = join(folder.path, "link.json");
    await mkdir(join(folder.path, "volume"));
    await writeFile(join(folder.path, "volume", "state.json"), "");
    await symlink(join(folder.path, "volume", "state.json"), path);
    const state = { savedAtMs: T0, chains: {}, incidents: [], budgets: NOTHING_SPENT, questions: {} };

    await writeStateFile(await resolveStatePath(path), state);

    expect(await readdir(join(folder.path, "volume"))).toEqual(["state.json"]);
    expect(await readStateFile(path, { logger: recordLog().logger, nowMs })).toEqual(state);
  });
});
