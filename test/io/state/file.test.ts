import { mkdir, readdir, readFile, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { moveAside, readStateFile, type SavedState, writeStateFile } from "../../../src/io/state/file.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

const T0 = Date.UTC(2026, 10, 20, 10, 37, 21, 5);
const STATE: SavedState = {
  savedAtMs: T0,
  chains: { base: { heads: [1, 2, 3] } },
  incidents: [],
  budgets: { accounts: {} },
  conversations: {},
};

describe("readStateFile()", () => {
  it("reads what was written", async () => {
    await using folder = await temporaryFolder();
    const path = join(folder.path, "synclag.state.json");
    await writeStateFile(path, STATE);

    const found = await readStateFile(path, T0);

    expect(found).toEqual({ kind: "state", state: STATE });
    expect(await readdir(folder.path)).toEqual(["synclag.state.json"]);
  });

  it("finds none at the first start", async () => {
    await using folder = await temporaryFolder();

    expect(await readStateFile(join(folder.path, "synclag.state.json"), T0)).toEqual({ kind: "none" });
  });

  it.each([
    { case: "an empty file", text: "", reason: "it is empty" },
    {
      case: "a truncated file",
      text: JSON.stringify({ version: 1, ...STATE }).slice(0, -9),
      reason: "it is truncated or damaged: not valid JSON",
    },
    { case: "a binary file", text: "\u0000\u0001", reason: "it is truncated or damaged: not valid JSON" },
    { case: "a foreign file", text: '{"name":"synclag"}', reason: "it is not a state file of Synclag" },
    { case: "a foreign version", text: '{"version":1}', reason: "it is not a state file of Synclag" },
    {
      case: "a newer file",
      text: JSON.stringify({ version: 2, everything: "new" }),
      reason: "a newer Synclag wrote it: version 2, and this one reads 1",
    },
  ])("moves $case aside, unchanged", async ({ text, reason }) => {
    await using folder = await temporaryFolder();
    const path = join(folder.path, "synclag.state.json");
    await writeFile(path, text);

    const found = await readStateFile(path, T0);

    const movedTo = `${path}.broken-20261120T103721005Z`;
    expect(found).toEqual({ kind: "moved_aside", reason, movedTo });
    expect(await readFile(movedTo, "utf8")).toBe(text);
    expect(await readStateFile(path, T0)).toEqual({ kind: "none" });
  });

  it("throws where there is something that cannot be read", async () => {
    await using folder = await temporaryFolder();

    await expect(readStateFile(folder.path, T0)).rejects.toThrow(
      `Cannot read the state file ${folder.path}: it is a folder (EISDIR); choose another with --state`,
    );
  });
});

describe("moveAside()", () => {
  it("moves a file that its readers cannot use", async () => {
    await using folder = await temporaryFolder();
    const path = join(folder.path, "synclag.state.json");
    await writeStateFile(path, STATE);

    const { reason } = await moveAside(path, "its budgets are no budgets", T0);

    expect(reason).toBe("its budgets are no budgets");
    expect(await readdir(folder.path)).toEqual(["synclag.state.json.broken-20261120T103721005Z"]);
  });
});

describe("writeStateFile()", () => {
  it("replaces the previous file", async () => {
    await using folder = await temporaryFolder();
    const path = join(folder.path, "synclag.state.json");
    await writeStateFile(path, { ...STATE, chains: { base: "x".repeat(100_000) } });

    await writeStateFile(path, STATE);

    expect(await readStateFile(path, T0)).toEqual({ kind: "state", state: STATE });
  });

  it("keeps a link a link", async () => {
    await using folder = await temporaryFolder();
    const path = join(folder.path, "link.json");
    await mkdir(join(folder.path, "volume"));
    await writeFile(join(folder.path, "volume", "state.json"), "");
    await symlink(join(folder.path, "volume", "state.json"), path);

    await writeStateFile(path, STATE);

    expect(await readdir(join(folder.path, "volume"))).toEqual(["state.json"]);
    expect(await readStateFile(join(folder.path, "volume", "state.json"), T0)).toMatchObject({
      kind: "state",
    });
  });

  it("says what to do where it cannot write", async () => {
    await using folder = await temporaryFolder();
    const path = join(folder.path, "missing", "synclag.state.json");

    await expect(writeStateFile(path, STATE)).rejects.toThrow(
      `Cannot write the state file ${path}: its folder does not exist (ENOENT); choose another with --state`,
    );
  });
});
