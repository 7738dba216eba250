import { readFileSync } from "node:fs";
import { parseConfig } from "../../src/config/parse.ts";
import { ConfigError } from "../../src/config/yaml/config-error.ts";

/** The environment of the invalid files. */
const ENV = {
  GOOD_KEY: "0123456789abcdef0123456789abcdef",
  SHORT_KEY: "0123456789abcdef-secret",
  EMPTY_KEY: "",
  MANY_LINES: "first\nsecond",
  HOST: "localhost",
};

/** The problems of test/fixtures/config/NAME.yaml, without the name of the file. */
export function problemsOf(name: string): readonly string[] {
  const file = `${name}.yaml`;
  const text = readFileSync(new URL(`../fixtures/config/${file}`, import.meta.url), "utf8");
  try {
    parseConfig(text, { file, env: ENV, readFile: readSecret });
  } catch (error) {
    if (error instanceof ConfigError) {
      return error.message.split("\n").map((line) => line.replace(`${file}:`, ""));
    }
    throw error;
  }
  return [];
}

function readSecret(path: string): string {
  if (path === "/run/secrets/empty") {
    return "\n";
  }
  throw new Error(`ENOENT: no such file or directory, open '${path}'`);
}
