import { renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { WatchedFiles } from "../../src/io/watched-files.ts";
import { commandWorld } from "../support/command-world.ts";
import { mountConfigMap } from "../support/config-map.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const { world: FILES } = commandWorld({});

describe("WatchedFiles.haveChanged()", () => {
  it("is false while a file has the content that was read, even if it was written again", async () => {
    await using folder = await temporaryFolder();
    const { files, path } = watch(folder.path, "version: 1");
    writeFileSync(path, "version: 1");

    expect(looks(files, 20)).toEqual([]);
  });

  it("is true at the second look at the same new content, until that is read", async () => {
    await using folder = await temporaryFolder();
    const { files, path } = watch(folder.path, "version: 1");
    replace(path, "version: 2");

    expect(looks(files, 3)).toEqual([2, 3]);
    files.startOver();
    expect(files.read(path)).toBe("version: 2");
    expect(looks(files, 20)).toEqual([]);
  });

  it("waits for a file that is being written", async () => {
    await using folder = await temporaryFolder();
    const { files, path } = watch(folder.path, "version: 1");

    for (const text of ["", "ver", "version", "version: 2"]) {
      writeFileSync(path, text);
      expect(files.haveChanged()).toBe(false);
    }
    expect(files.haveChanged()).toBe(true);
  });

  it("is false again for a change that was taken back", async () => {
    await using folder = await temporaryFolder();
    const { files, path } = watch(folder.path, "version: 1");
    writeFileSync(path, "version: 2");
    looks(files, 1);
    writeFileSync(path, "version: 1");

    expect(looks(files, 20)).toEqual([]);
  });

  it("sees the symbolic link change that Kubernetes updates a ConfigMap with", async () => {
    await using folder = await temporaryFolder();
    const mount = mountConfigMap(folder.path, "version: 1");
    const files = new WatchedFiles(FILES);
    files.read(mount.path);

    mount.update("version: 1");
    expect(looks(files, 20)).toEqual([]);
    mount.update("version: 2");
    expect(looks(files, 2)).toEqual([2]);
  });

  it("ignores a file that is missing for a moment, and reports one that stays away", async () => {
    await using folder = await temporaryFolder();
    const { files, path } = watch(folder.path, "version: 1");

    rmSync(path);
    expect(looks(files, 10)).toEqual([]);
    writeFileSync(path, "version: 1");
    expect(looks(files, 10)).toEqual([]);
    rmSync(path);
    expect(looks(files, 15)).toEqual([15]);
  });

  it("watches each file that was read, such as a secret, and a missing one", async () => {
    await using folder = await temporaryFolder();
    const { files } = watch(folder.path, "version: 1");
    const secret = join(folder.path, "key");
    expect(() => files.read(secret)).toThrow("ENOENT");
    expect(looks(files, 20)).toEqual([]);

    writeFileSync(secret, "some-example-key");

    expect(looks(files, 2)).toEqual([2]);
  });

  it("watches which files match a pattern", async () => {
    await using folder = await temporaryFolder();
    const { files } = watch(folder.path, "version: 1");
    expect(files.list(folder.path, /^fleet-.*[.]yaml$/)).toEqual([]);
    writeFileSync(join(folder.path, "synclag.state.json"), "{}");
    expect(looks(files, 20)).toEqual([]);

    writeFileSync(join(folder.path, "fleet-one.yaml"), "chains: {}");

    expect(looks(files, 2)).toEqual([2]);
  });
});

function watch(folder: string, text: string) {
  const path = join(folder, "chains.yaml");
  writeFileSync(path, text);
  const files = new WatchedFiles(FILES);
  files.read(path);
  return { files, path };
}

/** At which of so many looks it had changed, counted from 1. */
function looks(files: WatchedFiles, count: number): readonly number[] {
  return Array.from({ length: count }, (_, index) => index + 1).filter(() => files.haveChanged());
}

function replace(path: string, text: string): void {
  writeFileSync(`${path}.new`, text);
  renameSync(`${path}.new`, path);
}
