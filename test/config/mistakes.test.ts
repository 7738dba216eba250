import { readdirSync, readFileSync } from "node:fs";
import { it } from "vitest";
import { parseConfig } from "../../src/config/parse.ts";
import { configErrorOf } from "../support/config-error.ts";
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
  PASSWORD: "80/word",
};

it("reports every mistake of a configuration with position, found value and expectation", () => {
  const files = readdirSync(FOLDER).filter((file) => file.endsWith(".yaml"));

  const reports = files.map((file) => `# ${file}\n${errorOf(file)}\n`);

  expectGolden("test/fixtures/config/mistakes.expected.txt", reports.join("\n"));
});

function errorOf(file: string): string {
  const text = readFileSync(`${FOLDER}/${file}`, "utf8");
  const message = configErrorOf(() => parseConfig(text, { file, env: ENV, readFile: readSecret }));
  return message.replaceAll(`${file}:`, "") || "no mistake";
}

function readSecret(path: string): string {
  if (path === "/run/secrets/empty") {
    return "\n";
  }
  throw new Error(`ENOENT: no such file or directory, open '${path}'`);
}
