import { afterAll, describe, expect, it } from "vitest";
import {
  BAD_WEB_CONFIGS,
  GOOD_WEB_CONFIGS,
  UNSUPPORTED_WEB_CONFIGS,
  webConfigFolder,
} from "../support/web-configs.ts";
import { runProgram } from "./support/program.ts";

const folder = webConfigFolder();

afterAll(() => folder[Symbol.dispose]());

describe("promtool check web-config", () => {
  it("says of each file what test/support/web-configs.ts says of it, by which our own reader is tested", async () => {
    const verdictOf = async (text: string, name: string): Promise<string> => {
      const file = folder.write(`${name.replaceAll(/\W+/g, "-")}.yml`, text);
      const { code } = await runProgram({ command: "promtool", args: ["check", "web-config", file] });
      return `${name}: ${{ 0: "good", 1: "bad" }[code ?? -1] ?? `exit code ${code}`}`;
    };

    const good = [...GOOD_WEB_CONFIGS, ...UNSUPPORTED_WEB_CONFIGS];

    const verdicts: string[] = [];
    for (const { text, name } of [...good, ...BAD_WEB_CONFIGS]) {
      verdicts.push(await verdictOf(text, name));
    }

    expect(verdicts).toEqual([
      ...good.map(({ name }) => `${name}: good`),
      ...BAD_WEB_CONFIGS.map(({ name }) => `${name}: bad`),
    ]);
  });
});
