import { describe, expect, it } from "vitest";
import { readStoreFlags } from "../../../src/config/options/read-store-flags.ts";
import { storeName } from "../../../src/config/options/store-settings.ts";

const NOBODY = { username: null, password: null };
const ENV = { PASSWORD: "p@ss/w:ord%", STORE: "rediss://alice:p%40ss@cache.example/2" };

describe("readStoreFlags()", () => {
  it.each([
    { store: "redis://127.0.0.1", address: { host: "127.0.0.1", port: 6379, ...NOBODY } },
    { store: "redis://cache.example:7000/", address: { host: "cache.example", port: 7000, ...NOBODY } },
    { store: "redis://[::1]:7000/15", address: { host: "::1", port: 7000, database: 15, ...NOBODY } },
    { store: "rediss://h", address: { host: "h", port: 6379, isEncrypted: true, ...NOBODY } },
    { store: "redis://:pa%20ss@h", address: { host: "h", username: null, password: "pa ss" } },
    {
      store: `redis://alice:\${PASSWORD}@h`,
      address: { host: "h", username: "alice", password: "p@ss/w:ord%" },
    },
    {
      store: `\${STORE}`,
      address: { host: "cache.example", isEncrypted: true, username: "alice", password: "p@ss", database: 2 },
    },
  ])("reads $store", ({ store, address }) => {
    const reading = read({ store });

    expect(reading).toMatchObject({
      kind: "store",
      settings: { cluster: "default", address: { port: 6379, isEncrypted: false, database: 0, ...address } },
    });
  });

  it("knows what must not leave the process, as it is written and as it reads", () => {
    expect(read({ store: "redis://alice:p%40ss@h" })).toMatchObject({
      secrets: expect.arrayContaining(["alice", "p%40ss", "p@ss"]),
    });
  });

  it.each([
    { store: "", found: "an empty string" },
    { store: "cache.example:6379", found: "no scheme" },
    { store: "http://cache.example", found: "http:" },
    { store: "redis://", found: "no host" },
    { store: "redis://h:99999", found: "an invalid host, port or password" },
    { store: "redis://a:b/c@h", found: "an invalid host, port or password" },
    { store: "redis://a/b@h", found: "an @ in the path" },
    { store: "redis://h/first", found: "a path that is no database number" },
    { store: "redis://h/0?x=hunter2", found: "a ? or # after the database" },
    { store: "redis://alice@h", found: "a user without a password" },
    { store: " redis://h", found: "a space before or after it" },
  ])("says what is wrong with $store", ({ store, found }) => {
    expect(read({ store })).toEqual({
      kind: "unusable",
      message: expect.stringContaining(
        `--store: Cannot use this URL: expected redis://[USER:PASSWORD@]HOST[:PORT][/DATABASE] or rediss://…, found ${found}`,
      ),
    });
  });

  it("takes SYNCLAG_STORE where --store is not given", () => {
    const env = { SYNCLAG_STORE: "redis://from-env" };

    expect(read({}, env)).toMatchObject({ settings: { address: { host: "from-env" } } });
    expect(read({ cluster: "blue" }, env)).toMatchObject({ settings: { cluster: "blue" } });
    expect(read({ store: "redis://from-flag" }, env)).toMatchObject({
      settings: { address: { host: "from-flag" } },
    });
    expect(read({}, { SYNCLAG_STORE: "" })).toEqual({ kind: "none" });
    expect(read({}, { SYNCLAG_STORE: "hunter2" })).toEqual({
      kind: "unusable",
      message: expect.stringMatching(/^SYNCLAG_STORE: Cannot use this URL: .*, found no scheme$/),
    });
  });

  it("refuses --cluster where it has no effect, or could not stand in a key", () => {
    expect(read({ cluster: "blue" })).toEqual({
      kind: "unusable",
      message: "Cannot use --cluster without --store or SYNCLAG_STORE",
    });
    expect(read({ store: "redis://h", cluster: "a}b" })).toEqual({
      kind: "unusable",
      message: `Cannot use --cluster "a}b": expected letters, digits, '.', '_' or '-', 64 at most`,
    });
  });
});

describe("storeName()", () => {
  it("leaves out user and password", () => {
    const address = {
      host: "::1",
      port: 7000,
      isEncrypted: true,
      username: "alice",
      password: "p",
      database: 3,
    };

    expect(storeName(address)).toBe("rediss://[::1]:7000/3");
  });
});

function read(flags: Parameters<typeof readStoreFlags>[0], env: Readonly<Record<string, string>> = ENV) {
  return readStoreFlags(flags, {
    env,
    readFile: () => {
      throw new Error("no file");
    },
  });
}
