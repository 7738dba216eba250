import { afterAll, describe, expect, it } from "vitest";
import { WEB_CONFIGS, webConfigFolder } from "../support/web-configs.ts";
import { runProgram } from "./support/program.ts";

const folder = webConfigFolder();

afterAll(() => folder[Symbol.dispose]());

describe("promtool check web-config", () => {
  it("reports for each file what test/fixtures/config/web-configs.expected.txt says", async () => {
    const verdictOf = async (text: string, name: string): Promise<string> => {
      const file = folder.write(`${name.replaceAll(/\W+/g, "-")}.yml`, text);
      const { code } = await runProgram({ command: "promtool", args: ["check", "web-config", file] });
      return `${name}: ${{ 0: "good", 1: "bad" }[code ?? -1] ?? `exit code ${code}`}`;
    };

    const compared = WEB_CONFIGS.filter(({ verdict }) => verdict !== "not compared");

    const verdicts: string[] = [];
    for (const { text, name } of compared) {
      verdicts.push(await verdictOf(text, name));
    }

    expect(verdicts.length).toBeGreaterThan(50);
    expect(verdicts).toEqual(compared.map(({ name, verdict }) => `${name}: ${verdict}`));
  });
});
