import { readdirSync, readFileSync } from "node:fs";
import { expect, it } from "vitest";

it("asserts the message of every bad file in test/fixtures/config", () => {
  const files = readdirSync(new URL("../fixtures/config", import.meta.url)).filter(
    (file) => file !== "contract.yaml",
  );

  const tests = ["file-mistakes.test.ts", "indexer-mistakes.test.ts"]
    .map((file) => readFileSync(new URL(file, import.meta.url), "utf8"))
    .join("");

  expect(files.filter((file) => !tests.includes(`mistake: "${file.replace(".yaml", "")}"`))).toEqual([]);
});
