import { execFileSync } from "node:child_process";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ConfigError } from "../../src/config/config-error.ts";
import { parseWebConfig } from "../../src/config/parse-web-config.ts";
import { BAD_WEB_CONFIGS, GOOD_WEB_CONFIGS, webConfigFolder } from "../support/web-configs.ts";

let folder: ReturnType<typeof webConfigFolder>;

beforeAll(() => {
  folder = webConfigFolder();
});

afterAll(() => folder[Symbol.dispose]());

describe("promtool check web-config", () => {
  it.each([
    ...GOOD_WEB_CONFIGS.map((web) => ({ ...web, verdict: "good" })),
    ...BAD_WEB_CONFIGS.map((web) => ({ ...web, verdict: "bad" })),
  ])("agrees with us that $name is $verdict", ({ text, verdict }) => {
    const file = folder.write("web.yml", text);

    expect([promtoolSays(file), weSay(file, text)]).toEqual([verdict, verdict]);
  });
});

function promtoolSays(file: string): string {
  try {
    execFileSync("promtool", ["check", "web-config", file], { stdio: "pipe" });
    return "good";
  } catch (error) {
    // Its exit code for a file that it refuses; anything else is no verdict.
    if (error instanceof Error && "status" in error && error.status === 1) {
      return "bad";
    }
    throw error;
  }
}

function weSay(file: string, text: string): string {
  try {
    parseWebConfig(text, { file, readFile: folder.readFile });
    return "good";
  } catch (error) {
    if (error instanceof ConfigError) {
      return "bad";
    }
    throw error;
  }
}
