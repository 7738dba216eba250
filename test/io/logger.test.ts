import { describe, expect, it } from "vitest";
import { createRedact } from "../../src/core/model/redact.ts";
import { createLogger, type LoggerOptions } from "../../src/io/logger.ts";

const KEY = 'k"e\\y-of-many-letters';

describe("createLogger()", () => {
  it("writes one line of JSON for each event, with the name of the level, and none below its level", async () => {
    const { logger, lines } = await setUp({ level: "warn" });

    logger.info("no");
    logger.warn({ target: "a/b" }, "Status changed");

    const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT/);
    expect(lines.map((line): unknown => JSON.parse(line))).toEqual([
      { level: "warn", time, target: "a/b", msg: "Status changed" },
    ]);
  });

  it.each([
    { where: "the message", fields: {}, message: `failed with ${KEY}` },
    { where: "a field", fields: { detail: `?key=${encodeURIComponent(KEY)}` }, message: "x" },
    { where: "a nested field", fields: { a: { b: [KEY] } }, message: "x" },
    { where: "an error", fields: { err: new Error(KEY, { cause: new Error(KEY) }) }, message: "x" },
  ])("removes a secret from $where, in both formats", async ({ fields, message }) => {
    for (const format of ["json", "pretty"] as const) {
      const { logger, lines } = await setUp({ format, redact: createRedact([KEY]) });

      logger.error(fields, message);

      expect(lines.join("")).toContain("[secret]");
      expect(lines.join("")).not.toMatch(/of-many-letters/);
    }
  });

  it("removes the secrets that a reload has added", async () => {
    let secrets: readonly string[] = [];
    const { logger, lines } = await setUp({ redact: (line) => createRedact(secrets)(line) });

    secrets = ["newcomer"];
    logger.info("newcomer");

    expect(lines[0]).toContain('"msg":"[secret]"');
  });

  it("writes plain text without colours if stderr is not a terminal", async () => {
    const { logger, lines } = await setUp({ format: "pretty" });

    logger.info({ chains: 30 }, "Started");

    expect(lines).toEqual([expect.stringMatching(/^\[\d\d:\d\d:\d\d\] INFO: Started \{"chains":30\}$/)]);
  });
});

async function setUp(wanted: Partial<LoggerOptions> = {}) {
  const lines: string[] = [];
  const logger = await createLogger({
    level: "debug",
    format: "json",
    colour: "none",
    redact: createRedact([]),
    write: (line) => lines.push(line),
    ...wanted,
  });
  return { logger, lines };
}
