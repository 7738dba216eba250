import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parseWebConfig } from "../../src/config/web/parse.ts";
import { ConfigError } from "../../src/config/yaml/config-error.ts";
import { BAD_WEB_CONFIGS, GOOD_WEB_CONFIGS, webConfigFolder } from "../support/web-configs.ts";
import { runProgram } from "./support/program.ts";

let folder: ReturnType<typeof webConfigFolder>;

beforeAll(() => {
  folder = webConfigFolder();
});

afterAll(() => folder[Symbol.dispose]());

describe("promtool check web-config", () => {
  it.each([
    ...GOOD_WEB_CONFIGS.map((web) => ({ ...web, verdict: "good" })),
    ...BAD_WEB_CONFIGS.map((web) => ({ ...web, verdict: "bad" })),
  ])("agrees with us that $name is $verdict", async ({ text, verdict }) => {
    const file = folder.write("web.yml", text);

    expect([await promtoolSays(file), weSay(file, text)]).toEqual([verdict, verdict]);
  });
});

async function promtoolSays(file: string): Promise<string> {
  const { code } = await runProgram({ command: "promtool", args: ["check", "web-config", file] });
  // Any other code is no verdict.
  return { 0: "good", 1: "bad" }[code ?? -1] ?? `exit code ${code}`;
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
