import { readdirSync, readFileSync } from "node:fs";
import { it } from "vitest";
import { parseConfig } from "../../src/config/parse.ts";
import { ConfigError } from "../../src/config/problems.ts";
import { expectGolden } from "../support/golden.ts";

const FOLDER = "test/fixtures/config/mistakes";
const ENV = {
  GOOD_KEY: "0123456789abcdef0123456789abcdef",
  SHORT_KEY: "0123456789abcdef-secret",
  EMPTY_KEY: "",
  MANY_LINES: "first\nsecond",
  HOST: "localhost",
  HIDDEN_URL: "gateway.example/hidden-key",
  TOKEN: "very secret token",
};

it("reports every mistake of a configuration with position, found value and expectation", () => {
  const files = readdirSync(FOLDER).filter((file) => file.endsWith(".yaml"));

  const reports = files.map((file) => `# ${file}\n${errorOf(file)}\n`);

  expectGolden("test/fixtures/config/mistakes.expected.txt", reports.join("\n"));
});

function errorOf(file: string): string {
  try {
    parseConfig(readFileSync(`${FOLDER}/${file}`, "utf8"), { file, env: ENV, readFile: readSecret });
  } catch (error) {
    if (error instanceof ConfigError) {
      return error.message.replaceAll(`${file}:`, "");
    }
    throw error;
  }
  return "no mistake";
}

function readSecret(path: string): string {
  if (path === "/run/secrets/empty") {
    return "\n";
  }
  throw new Error(`ENOENT: no such file or directory, open '${path}'`);
}
