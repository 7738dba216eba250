import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { plan } from "../src/commands/plan.ts";
import { parseConfig } from "../src/config/parse.ts";
import { commandWorld } from "./support/command-world.ts";

const README = readFileSync("README.md", "utf8");

function blocksOf(language: string): readonly string[] {
  const pattern = new RegExp(`\`\`\`${language}\\n([^]*?)\`\`\``, "g");
  return [...README.matchAll(pattern)].map(([, text]) => text ?? "");
}

describe("README.md", () => {
  it("shows a configuration that can be used", () => {
    const [text = ""] = blocksOf("yaml");
    const options = { file: "chains.yaml", env: { EXAMPLE_API_KEY: "some-example-key" }, readFile: () => "" };

    const config = parseConfig(text, options);

    expect(config.fleet.indexers.map(({ endpoints }) => endpoints.length)).toEqual([1, 2]);
  });
});

describe("docs/faq.md", () => {
  it("shows lines of the plan of the default fleet as they are", () => {
    const key = "0123456789abcdef0123456789abcdef";
    const { world, printed } = commandWorld({ THEGRAPH_API_KEY: key });

    const exitCode = plan({ config: "chains.yaml", format: "table" }, world);

    const [, excerpt = ""] =
      /^\$ npx synclag plan\n([^`]+)\n```/m.exec(readFileSync("docs/faq.md", "utf8")) ?? [];
    const lines = excerpt.split("\n").filter((line) => line !== "…");
    expect(exitCode).toBe(0);
    expect(lines.length).toBeGreaterThan(3);
    expect(printed.out.join("\n").split("\n")).toEqual(expect.arrayContaining(lines));
  });
});
