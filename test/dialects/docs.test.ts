import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import type { Question } from "../../src/dialects/dialect.ts";
import { DIALECTS, FAMILIES, questionsFor } from "../../src/dialects/families.ts";
import { graphStatusQuestion } from "../../src/dialects/graph-status.ts";
import { interpretReply } from "../../src/dialects/interpret-reply.ts";
import { endpointOf, formOf } from "./endpoint-of.ts";
import { replyOf } from "./read-fixture.ts";

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
  it("has a section for each dialect, or an item in the list of its kind", () => {
    const headings = [...PAGE.matchAll(/^## `(.+)`$/gm)].map(([, heading]) => heading);
    const rows = [...PAGE.matchAll(/^- `([\w-]+)`: `…[/:]/gm)].map(([, name]) => name);

    expect([...headings, ...rows].toSorted()).toEqual(Object.keys(DIALECTS).slice(1).toSorted());
  });

  it.each(Object.keys(FAMILIES))("prints the queries of %s as they are sent", (name) => {
    const queries = questionsFor(endpointOf(name, [1])).map(({ body }) => body?.["query"]);

    expect(blocksOf(sectionOf(name), "graphql")).toEqual(queries);
  });

  it.each(Object.keys(FAMILIES))("prints a reply of %s that is read without an error", (name) => {
    const [question] = questionsFor(endpointOf(name, [1]));
    const readings = blocksOf(sectionOf(name), "json").map((block) => read(question, block));

    expect(readings).toHaveLength(1);
    expect(readings).toMatchObject([{ kind: "rows", rows: expect.arrayContaining([expect.anything()]) }]);
    expect(JSON.stringify(readings)).not.toContain('"failed"');
  });

  it("prints the query and a reply of graph-status", () => {
    const section = sectionOf("graph-status");
    const deployment = /deployment: (\w+)/.exec(section)?.[1] ?? "";
    const question = graphStatusQuestion([{ chainId: 8453, deployment }]);

    const reading = read(question, blocksOf(section, "json")[0]);

    expect(blocksOf(section, "graphql")).toEqual([question.body?.["query"]]);
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
    const blocks = blocksOf(section, "yaml").map(
      (block) => parse(block) as Readonly<Record<string, unknown>>,
    );
    const replies = blocksOf(section, "json");

    const readings = blocks.map((block, index) => {
      const slugs = Object.values(block["chains"] ?? {}).map(String);
      const targets = endpointOf("custom", [1, 2]).targets.map((one, at) => ({
        ...one,
        chain: slugs[at] ?? "",
      }));
      const [question] = questionsFor({ dialect: "custom", custom: formOf(block), targets });
      return read(question, replies[index]);
    });

    const head = (block: number, rest: object) => ({ kind: "head", head: { block, ...rest } });
    expect(readings).toMatchObject([
      { rows: [{ chainId: null, content: head(23368264, { timestampSec: 1757912345 }) }] },
      {
        rows: [
          { chainId: 1, content: head(23368264, { hash: "0xf8cc", indexingErrors: false }) },
          { chainId: 8453, content: head(35600000, { hash: null, indexingErrors: true }) },
        ],
      },
      {
        rows: [
          { chainId: 1, content: head(1700000, { timestampSec: null }) },
          { chainId: 2, content: head(500000, { timestampSec: null }) },
        ],
      },
      {
        rows: [
          { chainId: 1, content: head(20293450, { timestampSec: 1720823759 }) },
          { chainId: 8453, content: { kind: "not_started" } },
        ],
      },
    ]);
  });
});

function read(question: Question | undefined, reply = "") {
  return question && interpretReply(question, replyOf(reply), 0);
}
