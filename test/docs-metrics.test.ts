import { readFileSync } from "node:fs";
import { text } from "node:stream/consumers";
import { beforeAll, describe, expect, it } from "vitest";
import { FAILURE_REASONS } from "../src/core/model/observation.ts";
import { STATUSES } from "../src/core/model/report.ts";
import { PAIR_STATES } from "../src/core/report/pairs.ts";
import { CHAIN_LABELS, ENDPOINT_LABELS, TARGET_LABELS } from "../src/metrics/families.ts";
import { createPrometheus } from "../src/metrics/registry.ts";
import { metricsSource } from "./support/metrics-source.ts";

interface Described {
  readonly name: string;
  readonly type: string;
  readonly labels: readonly string[];
}

const DOCS = readFileSync(new URL("../docs/METRICS.md", import.meta.url), "utf8");
const SHORTHANDS: Readonly<Record<string, readonly string[]>> = {
  T: TARGET_LABELS,
  C: CHAIN_LABELS,
  E: ENDPOINT_LABELS,
};

describe("docs/METRICS.md", () => {
  let served: readonly Described[] = [];

  beforeAll(async () => {
    const prometheus = createPrometheus({ version: "0", revision: "", nodeVersion: "" });
    const all = readExposition(await text(prometheus.render(metricsSource())));
    served = all.filter(({ name }) => name.startsWith("synclag_"));
  });

  it("describes what is served, with the same types and labels, and nothing else", () => {
    expect(sorted(readTables(DOCS))).toEqual(sorted(served));
  });

  it("gives each metric a meaning", () => {
    for (const cells of metricRows(DOCS)) {
      expect(cells.filter((cell) => cell !== "")).toHaveLength(4);
    }
  });

  it("says what the short labels stand for", () => {
    const legend = rowsOf(DOCS).flatMap(([short = "", labels = ""]) =>
      short in SHORTHANDS ? [[short, codes(labels)] as const] : [],
    );

    expect(Object.fromEntries(legend)).toEqual(SHORTHANDS);
  });

  it.each([
    { list: "status", values: STATUSES },
    { list: "reason", values: FAILURE_REASONS },
    { list: "state", values: PAIR_STATES },
  ])("names every $list, in order", ({ list, values }) => {
    const sentence = new RegExp(`^\`${list}\` is one of[^:]*:([^.]*)\\.`, "m").exec(DOCS)?.[1] ?? "";

    expect(codes(sentence)).toEqual(values);
  });

  it("asks in its examples only for what is served", () => {
    const names = new Set(
      served.flatMap(({ name, type }) =>
        type === "histogram" ? [`${name}_bucket`, `${name}_sum`, `${name}_count`] : [name],
      ),
    );
    const queries = [...DOCS.matchAll(/^```promql\n([^`]*)^```/gm)].map(([, query = ""]) => query);
    const asked = queries.flatMap((query) => query.match(/\bsynclag_[a-z_]+/g) ?? []);

    expect(queries.length).toBeGreaterThan(5);
    expect(asked.filter((name) => !names.has(name))).toEqual([]);
  });
});

function readTables(markdown: string): readonly Described[] {
  return metricRows(markdown).map(([name = "", type = "", labels = ""]) => ({
    name: codes(name)[0] ?? "",
    type,
    labels: labels === "–" ? [] : labels.split(", ").flatMap((label) => SHORTHANDS[label] ?? codes(label)),
  }));
}

function metricRows(markdown: string): readonly (readonly string[])[] {
  return rowsOf(markdown).filter(([first = ""]) => /^`synclag_/.test(first));
}

function rowsOf(markdown: string): readonly (readonly string[])[] {
  return [...markdown.matchAll(/^\| (.*) \|$/gm)].map(([, row = ""]) =>
    row.split(" | ").map((cell) => cell.trim()),
  );
}

function codes(text: string): readonly string[] {
  return [...text.matchAll(/`([^`]+)`/g)].map(([, code = ""]) => code);
}

/** Names and types as they are announced, labels as the first sample has them. */
function readExposition(text: string): readonly Described[] {
  return [...text.matchAll(/^# TYPE (\S+) (\S+)\n(?:\S+?(\{.*\}|) \S+$)?/gm)].map(
    ([, name = "", type = "", labels = ""]) => ({
      name,
      type,
      labels: [...labels.matchAll(/([a-z_]+)="/g)]
        .map(([, label = ""]) => label)
        .filter((label) => label !== "le"),
    }),
  );
}

function sorted(described: readonly Described[]): readonly Described[] {
  return [...described].sort((a, b) => (a.name < b.name ? -1 : 1));
}
