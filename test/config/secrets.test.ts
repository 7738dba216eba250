import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import type { Config } from "../../src/config/config.ts";
import { parseConfig } from "../../src/config/parse.ts";
import { ConfigError } from "../../src/config/yaml/config-error.ts";

const UUID = "5961fb30-8fdc-45ad-9a35-555dd5e0dd56";
const BASE58 = "4SxPXkQNifgBYqje2C4yP5gz69erZwtD7GuLWgXHSLGe";
const HEX_40 = "d0f1c5b2a3948576655443322110ffeeddccbbaa";
const IPFS_HASH = "QmYwAPJzv5CZsnA625s3Xf2nemtYgPpHdWEz79ojWKPbdG";

describe("secrets of a URL's path", () => {
  it.each([
    { kind: "a UUID", path: `/${UUID}/graphql`, key: UUID },
    { kind: "a base58 key", path: `/v1/${BASE58}`, key: BASE58 },
    { kind: "40 hexadecimal digits", path: `/${HEX_40}/`, key: HEX_40 },
    { kind: "32 hexadecimal letters", path: `/${"abcdef".repeat(6)}`, key: "abcdef".repeat(6) },
    { kind: "a base64url key", path: "/v2/aB3_dE-fG5hIjKl7MnOp_QrS", key: "aB3_dE-fG5hIjKl7MnOp_QrS" },
    { kind: "a key behind a name", path: `/token=${HEX_40}/x`, key: HEX_40 },
    { kind: "a key beside a placeholder", path: `/{chain}-${HEX_40}`, key: `-${HEX_40}` },
    { kind: "a percent-encoded key", path: `/${BASE58}%21`, key: `${BASE58}!` },
  ])("include $kind", ({ path, key }) => {
    expect(configOf({ url: `https://h.example${path}` }).secrets).toContain(key);
  });

  it.each([
    { kind: "a name with a version", path: "/sablier-lockup-v2-arbitrum-sepolia/version/latest" },
    { kind: "a number", path: "/query/112500" },
    { kind: "a short commit", path: "/508d217/v1/graphql" },
    { kind: "a public subgraph", path: `/api/subgraphs/id/${BASE58}` },
    { kind: "a public deployment", path: `/subgraphs/${IPFS_HASH}` },
    { kind: "a name of the configuration", path: "/?network=base&variant=subgraph" },
    { kind: "a short number of the query", path: "/?chain=8453&v=2024" },
    { kind: "words with numbers", path: "/graphql-endpoint/lockupV2/arbitrumsepoliatestnet-2024" },
    { kind: "a chain's value", path: "/{id}?network={chain}", chain: `{ id: ${BASE58} }` },
  ])("do not include $kind", ({ path, chain = "{}" }) => {
    expect(configOf({ url: `https://h.example${path}`, chain }).secrets).toEqual([]);
  });

  it("include a key in the value of a variable that holds a whole URL", () => {
    const { secrets } = configOf({ url: `\${NODE}` }, { NODE: `https://h.example/v2/${HEX_40}` });

    expect(secrets).toContain(HEX_40);
  });
});

describe("keys of random characters in a path", () => {
  const COUNT = 2_000;

  it.each([
    { kind: "32 hexadecimal digits", make: (bytes: Buffer) => bytes.toString("hex").slice(0, 32) },
    { kind: "22 characters of base64url", make: (bytes: Buffer) => bytes.toString("base64url").slice(0, 22) },
    { kind: "43 characters of base64url", make: (bytes: Buffer) => bytes.toString("base64url").slice(0, 43) },
    { kind: "22 letters and digits", make: (bytes: Buffer) => lettersAndDigits(bytes, 22) },
    { kind: "32 letters and digits", make: (bytes: Buffer) => lettersAndDigits(bytes, 32) },
    {
      kind: "UUIDs",
      make: (bytes: Buffer) =>
        bytes.toString("hex").replace(/^(.{8})(.{4})(.{4})(.{4})(.{12}).*/, "$1-$2-$3-$4-$5"),
    },
  ])("are secret, all but one in a thousand at most: $kind", ({ make }) => {
    // Random, and the same in each run.
    const keys = Array.from({ length: COUNT }, (_, index) =>
      make(createHash("sha512").update(`key ${index}`).digest()),
    );

    const { secrets } = configOf({ rpc: JSON.stringify(keys.map((key) => `https://h.example/v3/${key}`)) });

    const known = new Set(secrets);
    expect(keys.filter((key) => !known.has(key)).length).toBeLessThanOrEqual(COUNT / 1_000);
  });
});

describe("secrets of a header", () => {
  it.each([
    { value: "Bearer swordfish", secret: "swordfish" },
    { value: "theme=dark; session=swordfish", secret: "swordfish" },
    { value: "Token token='swordfish', id=7", secret: "swordfish" },
    { value: `ApiKey ${HEX_40} test`, secret: HEX_40 },
    { value: "session=c3dvcmRmaXNo==", secret: "c3dvcmRmaXNo==" },
    { value: `Basic ${Buffer.from("user:swordfish").toString("base64")}`, secret: "swordfish" },
  ])("include the part of $value that is a key", ({ value, secret }) => {
    expect(configOf({ headers: `{ X-Header: "${value}" }` }).secrets).toContain(secret);
  });
});

describe("the rest of a header", () => {
  it("is not secret: names and numbers occur in every other text", () => {
    expect(configOf({ headers: '{ X-Header: "a=b; theme=dark; max-age=3600" }' }).secrets).toEqual([
      "a=b; theme=dark; max-age=3600",
    ]);
  });
});

describe("rpc", () => {
  it("takes variables and files, and keeps them secret", () => {
    const rpc = `"https://h.example/\${RPC_KEY}", "https://user:\${file:/run/secrets/key}@h.example/"`;

    const { fleet, secrets, variables } = configOf({ rpc: `[${rpc}]` }, { RPC_KEY: "swordfish" });

    expect(fleet.rpcEndpoints.map(({ url }) => url)).toEqual([
      "https://h.example/swordfish",
      "https://user:from-a-file@h.example/",
    ]);
    expect(secrets).toEqual(expect.arrayContaining(["swordfish", "from-a-file"]));
    expect(variables.map(({ shown }) => shown)).toEqual(["$(cat '/run/secrets/key')", "$RPC_KEY"]);
  });

  it("needs its variables", () => {
    expect(messageOf(fileWith({ rpc: `["https://h.example/\${RPC_KEY}"]` }))).toBe(
      "chains.yaml:3:27: chains.base.rpc[0]: Cannot resolve this value: RPC_KEY is not set; set it, or remove this URL",
    );
  });
});

/** What people write by mistake where a key belongs. */
const MISTAKES: readonly ((key: string) => Partial<File>)[] = [
  (key) => ({ headers: `"Authorization: Bearer ${key}"` }),
  (key) => ({ headers: `Authorization:Bearer ${key}` }),
  (key) => ({ headers: `Bearer ${key}` }),
  (key) => ({ headers: key }),
  (key) => ({ headers: `{ Bearer ${key} }` }),
  (key) => ({ headers: `{ ${key} }` }),
  (key) => ({ headers: `{ ${key}: }` }),
  (key) => ({ headers: `{ "Bearer ${key}": x }` }),
  (key) => ({ headers: `{ Authorization:${key} }` }),
  (key) => ({ headers: `{ Authorization: [${key}] }` }),
  (key) => ({ headers: `{ Authorization: { Bearer: ${key} } }` }),
  (key) => ({ headers: `{ Authorization: { ${key}: Bearer } }` }),
  (key) => ({ headers: `[${key}]` }),
  (key) => ({ headers: `["Authorization: ${key}"]` }),
  (key) => ({ headers: `[{ Authorization: ${key} }]` }),
  (key) => ({ headers: `{ Authorization: "Bearer \${${key}" }` }),
  (key) => ({ headers: `{ Authorization: "Bearer \${ ${key} }" }` }),
  (key) => ({ headers: `{ Authorization: "Bearer {${key}}" }` }),
  (key) => ({ headers: `{ Authorization: *${key} }` }),
  (key) => ({ headers: `{ Authorization: !${key} x }` }),
  (key) => ({ headers: `{ Authorization: !<${key}> x }` }),
  (key) => ({ headers: `\n        Authorization: |${key}` }),
  (key) => ({ headers: `\n        Authorization: >${key}` }),
  (key) => ({ headers: `\n        Authorization: Bearer: ${key}` }),
  (key) => ({ headers: `\n        Authorization: "Bearer" ${key}` }),
  (key) => ({ headers: `\n        Authorization: "Bearer ${key}` }),
  (key) => ({ headers: `\n        Authorization: @${key}` }),
  (key) => ({ headers: `\n        - ${key}` }),
  (key) => ({ headers: `{ Authorization: "Bearer ${key}\\n" }` }),
  (key) => ({ headers: `{ Authorization: "Bearer ${key}日本" }` }),
  (key) => ({ headers: `{ Content-Type: "${key}" }` }),
  (key) => ({ url: key }),
  (key) => ({ url: `h.example/${key}` }),
  (key) => ({ url: `https:/h.example/${key}` }),
  (key) => ({ url: `https//h.example/${key}` }),
  (key) => ({ url: `wss://h.example/${key}` }),
  (key) => ({ url: `"https://h.example/${key} "` }),
  (key) => ({ url: `"https://h.example/ ${key}"` }),
  (key) => ({ url: `https://user:pass/${key}@h.example/` }),
  (key) => ({ url: `https://user:${key}#x@h.example/` }),
  (key) => ({ url: `https://user:x@y/${key}@h.example/` }),
  (key) => ({ url: `https://h.example:${key}/` }),
  (key) => ({ url: `https://h.example/{${key}` }),
  (key) => ({ url: `{ https://h.example/${key} }` }),
  (key) => ({ url: `[https://h.example/${key}]` }),
  (key) => ({ url: `https://h.example/${key}: x` }),
  (key) => ({ url: `https://h.example/\${${key}-x}` }),
  (key) => ({ url: `*${key}` }),
  (key) => ({ rpc: `https://h.example/${key}` }),
  (key) => ({ rpc: `"https://h.example/${key}"` }),
  (key) => ({ rpc: `{ url: https://h.example/${key} }` }),
  (key) => ({ rpc: `{ https://h.example/${key} }` }),
  (key) => ({ rpc: `[h.example/${key}]` }),
  (key) => ({ rpc: `[https://h.example/{${key}}]` }),
  (key) => ({ rpc: `[{ url: https://h.example/${key} }]` }),
  (key) => ({ rpc: `[[https://h.example/${key}]]` }),
  (key) => ({ rpc: `["https://h.example/${key} "]` }),
  (key) => ({ chain: `{ url: h.example/${key} }` }),
  (key) => ({ chain: `{ headers: "X: ${key}" }` }),
  (key) => ({ chain: `{ headers: { X ${key} } }` }),
];

describe("the message about a mistake", () => {
  // One that looks like a key, and one that does not.
  const keys = ["k5f0c1d9a7b3e4f6a8c2d", "swordfish"];
  const mistakes = MISTAKES.flatMap((mistake) =>
    keys.map((key) => ({
      key,
      file: fileWith(mistake(key)),
      written: JSON.stringify(mistake("KEY")),
      length: key.length,
    })),
  );

  it.each(mistakes)(
    "does not repeat the value under headers, url or rpc: $written, $length letters",
    ({ key, file }) => {
      const message = messageOf(file);

      expect(message).toMatch(/^chains\.yaml:\d+:\d+: .*: Cannot /);
      expect(message).not.toContain(key);
    },
  );

  it("does not repeat what looks like a key anywhere", () => {
    const message = messageOf(fileWith({ more: `      ${HEX_40}: x\n      budget: ${UUID}` }));

    expect(message).toContain('Cannot use unknown key "[secret]"');
    expect(message).not.toMatch(new RegExp(`${HEX_40}|${UUID}`));
  });

  it("shows control characters escaped", () => {
    const message = messageOf(fileWith({ more: '      "a\\e[2J\\u202e\\nb": x' }));

    expect(message).toContain('Cannot use unknown key "a\\u001b[2J\\u202e\\u000ab": expected variant');
    expect(message).toContain('protocols.lockup[0]["a\\u001b[2J\\u202e\\nb"]');
  });
});

function lettersAndDigits(bytes: Buffer, length: number): string {
  return bytes
    .toString("base64")
    .replace(/[^A-Za-z0-9]/g, "")
    .slice(0, length);
}

interface File {
  readonly rpc: string;
  readonly url: string;
  readonly headers: string;
  /** The overrides of the indexer's one chain. */
  readonly chain: string;
  /** More lines of the indexer. */
  readonly more: string;
}

function fileWith(change: Partial<File>): string {
  const { rpc, url, headers, chain, more } = {
    rpc: "[]",
    url: "https://h.example/",
    headers: "{}",
    chain: "{}",
    more: "",
    ...change,
  };
  return `version: 1
chains:
  base: { id: 8453, rpc: ${rpc} }
protocols:
  lockup:
    - variant: subgraph
      chains: { base: ${chain} }
      url: ${url}
      headers: ${headers}
${more}
`;
}

function configOf(change: Partial<File>, env: Readonly<Record<string, string>> = {}): Config {
  return parse(fileWith(change), env);
}

function messageOf(text: string): string {
  try {
    parse(text, {});
  } catch (error) {
    if (error instanceof ConfigError) {
      return error.message;
    }
    throw error;
  }
  return "valid";
}

function parse(text: string, env: Readonly<Record<string, string>>): Config {
  return parseConfig(text, { file: "chains.yaml", env, readFile: () => "from-a-file\n" });
}
