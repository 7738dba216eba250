import { describe, expect, it } from "vitest";
import { readProxySettings, readStoreFlags } from "../../src/config/options.ts";

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
        cluster: "default",
        address: { ...usual, ...address },
      })),
    );
  });

  it("knows what must not leave the process, as it is written and as it reads", () => {
    expect(read({ store: "redis://alice:p%40ss@h" })).toMatchObject({
      secrets: expect.arrayContaining(["alice", "p%40ss", "p@ss"]),
    });
  });

  it("reports an invalid address", () => {
    const found = {
      "": "invalid URL: found no scheme",
      "cache.example:6379": "invalid URL: found no scheme",
      "http://cache.example": "invalid URL: found http://",
      "redis://": "invalid address",
      "redis://h:99999": "invalid host, port or password in the URL",
      "redis://a:b/c@h": "invalid host, port or password in the URL",
      "redis://a/b@h": "invalid address",
      "redis://h/first": "invalid address",
      "redis://h/0?x=hunter2": "invalid address",
      "redis://alice@h": "invalid address",
      "redis:// h": "invalid host, port or password in the URL",
    };

    for (const [store, what] of Object.entries(found)) {
      expect(() => read({ store })).toThrow(`--store: ${what}`);
    }
  });

  it("uses SYNCLAG_STORE without --store", () => {
    const env = { SYNCLAG_STORE: "redis://from-env" };

    expect(read({}, env)).toMatchObject({ address: { host: "from-env" } });
    expect(read({ cluster: "blue" }, env)).toMatchObject({ cluster: "blue" });
    expect(read({ store: "redis://from-flag" }, env)).toMatchObject({ address: { host: "from-flag" } });
    expect(read({}, { SYNCLAG_STORE: "" })).toBeNull();
    expect(() => read({}, { SYNCLAG_STORE: "hunter2" })).toThrow(
      /^environment variable SYNCLAG_STORE: invalid URL: found no scheme/,
    );
  });

  it("refuses --cluster without a store, and names that are invalid in keys", () => {
    expect(() => read({ cluster: "blue" })).toThrow(
      "--cluster has no effect without --store or SYNCLAG_STORE",
    );
    expect(() => read({ store: "redis://h", cluster: "a}b" })).toThrow(
      `--cluster: found "a}b", expected letters, digits, '.', '_' or '-', 64 at most`,
    );
  });
});

describe("readProxySettings()", () => {
  it("prefers the names in lower case, and is null without a proxy", () => {
    const env = { HTTPS_PROXY: "http://upper:1", https_proxy: "http://lower:1", NO_PROXY: "example.com" };
    const settings = { httpProxy: "", httpsProxy: "http://lower:1", noProxy: "example.com" };

    expect(readProxySettings(env)).toEqual(settings);
    expect(readProxySettings({ NO_PROXY: "example.com" })).toBeNull();
  });

  it("refuses other values than http:// and https:// URLs by the variable's name, without the value", () => {
    const variables = {
      HTTPS_PROXY: "proxy:3128",
      HTTP_PROXY: "socks5://me:secret@proxy",
      https_proxy: "http://[",
    };

    for (const [name, value] of Object.entries(variables)) {
      expect(() => readProxySettings({ [name]: value })).toThrow(
        new RegExp(`^environment variable ${name}: invalid (?!.*(?:secret|3128))`),
      );
    }
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
