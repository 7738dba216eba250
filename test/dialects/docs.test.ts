import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { z } from "zod";
import type { CustomQuery } from "../../src/core/model/fleet.ts";
import type { Dialect } from "../../src/dialects/dialect.ts";
import { graphStatusQuestions } from "../../src/dialects/graph-status.ts";
import { DIALECT_NAMES, DIALECTS, questionsFor } from "../../src/dialects/registry.ts";
import { endpointOf } from "./endpoint-of.ts";

const PAGE = readFileSync(new URL("../../docs/dialects.md", import.meta.url), "utf8");

/** The part of the page under a dialect's heading. */
function sectionOf(name: string): string {
  return PAGE.split(/^(?=## )/m).find((section) => section.startsWith(`## \`${name}\`\n`)) ?? "";
}

function blocksOf(section: string, language: string): readonly string[] {
  return [...section.matchAll(new RegExp(`^\`\`\`${language}\n([^]*?)\n\`\`\`$`, "gm"))].map(([, block]) =>
    String(block),
  );
}

describe("docs/dialects.md", () => {
  it("has a section for each dialect, in the order of the registry", () => {
    const headings = [...PAGE.matchAll(/^## `(.+)`$/gm)].map(([, heading]) => heading);

    expect(headings).toEqual(DIALECT_NAMES);
  });

  it.each(Object.entries<Dialect>(DIALECTS))("prints the queries of %s as they are sent", (name, dialect) => {
    const queries = dialect.questions.map(({ body }) => body["query"]);

    expect(blocksOf(sectionOf(name), "graphql")).toEqual(queries);
  });

  it.each(Object.entries<Dialect>(DIALECTS))(
    "prints a reply of %s that is read without an error",
    (name, dialect) => {
      const replies = blocksOf(sectionOf(name), "json").map((block): unknown => JSON.parse(block).data);

      const readings = replies.map((data) => dialect.questions[0]?.read(data));

      expect(readings).toHaveLength(1);
      expect(readings).toMatchObject([{ kind: "rows", rows: expect.arrayContaining([expect.anything()]) }]);
      expect(JSON.stringify(readings)).not.toContain('"failed"');
    },
  );

  it("prints the query and a reply of graph-status", () => {
    const section = sectionOf("graph-status");
    const deployment = /deployment: (\w+)/.exec(section)?.[1] ?? "";
    const [question] = graphStatusQuestions([{ chainId: 8453, deployment }]);

    const reading = question?.read(JSON.parse(String(blocksOf(section, "json")[0])).data);

    expect(blocksOf(section, "graphql")).toEqual([question?.body["query"]]);
    expect(reading).toMatchObject({
      rows: [
        {
          chainId: 8453,
          content: { head: { failure: expect.stringContaining("at block 403 in handleBlock") } },
        },
      ],
    });
  });

  it("prints examples of custom blocks that read the replies below them", () => {
    const section = sectionOf("custom");
    const blocks = blocksOf(section, "yaml").map((block): unknown => parse(block));
    const replies = blocksOf(section, "json").map((block): unknown => JSON.parse(block).data);

    const readings = blocks.map((block, index) =>
      questionsFor({ ...endpointOf("custom", [1]), custom: customOf(block) })[0]?.read(replies[index]),
    );

    const head = (block: number, rest: object) => ({ kind: "head", head: { block, ...rest } });
    expect(readings).toMatchObject([
      { rows: [{ chainId: null, content: head(23368264, { timestampSec: 1757912345 }) }] },
      {
        rows: [
          { chainId: 1, content: head(23368264, { hash: "0xf8cc", indexingErrors: false }) },
          { chainId: 8453, content: head(35600000, { hash: null, indexingErrors: true }) },
        ],
      },
      { rows: [{ chainId: null, content: head(23368264, {}) }] },
    ]);
  });
});

/** A block of the page as the configuration hands it to the dialect. */
function customOf(block: unknown): CustomQuery {
  const {
    query,
    height,
    rows = null,
    time = null,
    chain_id: chainId = null,
    hash = null,
    failed = null,
  } = z.record(z.string(), z.string()).parse(block);
  return { query: String(query), height: String(height), rows, time, chainId, hash, failed };
}
