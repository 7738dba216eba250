import { describe, expect, it } from "vitest";
import { readStoreFlags } from "../../../src/config/options/read-store-flags.ts";

const NOBODY = { username: null, password: null };
const ENV = { PASSWORD: "p@ss/w:ord%", STORE: "rediss://alice:p%40ss@cache.example/2" };

describe("readStoreFlags()", () => {
  it("reads host, port, TLS, user, password and database, with variables filled in", () => {
    const addresses = {
      "redis://127.0.0.1": { host: "127.0.0.1" },
      "redis://cache.example:7000/": { host: "cache.example", port: 7000 },
      "redis://[::1]:7000/15": { host: "::1", port: 7000, database: 15 },
      "rediss://h": { host: "h", isEncrypted: true },
      "redis://:pa%20ss@h": { host: "h", password: "pa ss" },
      [`redis://alice:\${PASSWORD}@h`]: { host: "h", username: "alice", password: "p@ss/w:ord%" },
      [`\${STORE}`]: {
        host: "cache.example",
        isEncrypted: true,
        username: "alice",
        password: "p@ss",
        database: 2,
      },
    };
    const usual = { port: 6379, isEncrypted: false, database: 0, ...NOBODY };

    const readings = Object.keys(addresses).map((store) => read({ store }));

    expect(readings).toMatchObject(
      Object.values(addresses).map((address) => ({
        kind: "store",
        settings: { cluster: "default", address: { ...usual, ...address } },
      })),
    );
  });

  it("knows what must not leave the process, as it is written and as it reads", () => {
    expect(read({ store: "redis://alice:p%40ss@h" })).toMatchObject({
      secrets: expect.arrayContaining(["alice", "p%40ss", "p@ss"]),
    });
  });

  it("says what is wrong with an address", () => {
    const found = {
      "": "an empty string",
      "cache.example:6379": "no scheme",
      "http://cache.example": "http:",
      "redis://": "no host",
      "redis://h:99999": "an invalid host, port or password",
      "redis://a:b/c@h": "an invalid host, port or password",
      "redis://a/b@h": "an @ in the path",
      "redis://h/first": "a path that is no database number",
      "redis://h/0?x=hunter2": "a ? or # after the database",
      "redis://alice@h": "a user without a password",
      " redis://h": "a space before or after it",
    };

    const readings = Object.keys(found).map((store) => read({ store }));

    expect(readings).toEqual(
      Object.values(found).map((what) => ({
        kind: "unusable",
        message: expect.stringContaining(
          `--store: Cannot use this URL: expected redis://[USER:PASSWORD@]HOST[:PORT][/DATABASE] or rediss://…, found ${what}`,
        ),
      })),
    );
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

function read(flags: Parameters<typeof readStoreFlags>[0], env: Readonly<Record<string, string>> = ENV) {
  return readStoreFlags(flags, {
    env,
    readFile: () => {
      throw new Error("no file");
    },
  });
}
