import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { stringify } from "yaml";
import type { Config } from "../../src/config/config.ts";
import { parseConfig } from "../../src/config/parse.ts";
import { expectGolden } from "../support/golden.ts";

const FOLDER = "test/fixtures/config/valid";
const ENV = {
  THEGRAPH_API_KEY: "0123456789abcdef0123456789abcdef",
  NODE_KEY: "5e1f0000c0ffee00decade0000facade",
  RPC_KEY: "swordfish",
  PATH_PART: "path-secret",
  HOOK_KEY: "hook-secret",
  PING_KEY: "ping-secret",
};

describe("parseConfig()", () => {
  it.each(readdirSync(FOLDER).filter((file) => /^[^.]+[.]yaml$/.test(file)))(
    "fills in templates, defaults and schedules, and collects the secrets: %s",
    (file) => {
      const config = parse(readFileSync(`${FOLDER}/${file}`, "utf8"), ENV);

      const text = stringify(config, { aliasDuplicateObjects: false });
      expectGolden(`${FOLDER}/${file.replace(".yaml", ".expected.yaml")}`, text);
    },
  );

  it("gives two files that poll the same one digest, whatever their links, schedules and providers", () => {
    const digestOf = (chain: object) =>
      parse(
        stringify({
          version: 1,
          chains: { base: { id: 8453 } },
          protocols: { lockup: [{ variant: "v", url: "http://h.example/{path}", chains: { base: chain } }] },
        }),
        ENV,
      ).fleet.digest;
    const links = { explorer: "https://e.example", playground: "https://p.example" };

    const plain = digestOf({ path: "a" });

    expect(digestOf({ path: "a", ...links, schedule: "0 * * * * *", provider: "us" })).toBe(plain);
    expect(digestOf({ path: "b" })).not.toBe(plain);
  });

  it("names ten of 5,000 chains on which no source confirms a height", () => {
    const slugs = Array.from({ length: 5_000 }, (_, index) => `c${index}`);
    const text = stringify({
      version: 1,
      chains: Object.fromEntries(slugs.map((slug, index) => [slug, { id: index + 1_000_000 }])),
      protocols: { lockup: [{ variant: "v", url: "http://h.example/{chain}", chains: slugs }] },
    });

    const { warnings } = parse(text, ENV);

    expect(warnings[0]).toMatch(/height of c0 \(h\.example\), .*, c9 \(h\.example\) and 4,990 more chains;/);
  });
});

function parse(text: string, env: Readonly<Record<string, string>>): Config {
  return parseConfig(text, {
    file: "chains.yaml",
    env,
    readFile: (path) =>
      path.endsWith(".yaml") ? readFileSync(join(FOLDER, path), "utf8") : "secret-of-the-file\n",
    listFiles: (folder) => readdirSync(join(FOLDER, folder)),
  });
}
