import { readFileSync } from "node:fs";
import { text } from "node:stream/consumers";
import { beforeAll, describe, expect, it } from "vitest";
import { FAILURE_REASONS } from "../src/core/model/observation.ts";
import { STATUSES } from "../src/core/model/statuses.ts";
import { PAIR_STATES } from "../src/core/report/pairs.ts";
import { CHAIN_LABELS, ENDPOINT_LABELS, TARGET_LABELS } from "../src/metrics/labels.ts";
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

  it("describes exactly the served metrics, with their types, labels and a meaning", () => {
    expect(metricsOf(DOCS).filter(({ meaning }) => meaning === "")).toEqual([]);
    const described = metricsOf(DOCS).map(({ meaning: _, ...metric }) => metric);

    expect(sorted(described)).toEqual(sorted(served));
  });

  it("explains the short labels", () => {
    const legend = itemsOf(DOCS).flatMap((item) => {
      const [, short, labels = ""] = /^([A-Z]) \((.*?)\): /.exec(item) ?? [];
      return short === undefined ? [] : [[short, codes(labels)] as const];
    });

    expect(Object.fromEntries(legend)).toEqual(SHORTHANDS);
  });

  it("names every status, reason and state, in order", () => {
    const named = ["status", "reason", "state"].map((list) => {
      const sentence = new RegExp(`^\`${list}\` is one of[^:]*:([^.]*)\\.`, "m").exec(DOCS)?.[1] ?? "";
      return codes(sentence);
    });

    expect(named).toEqual([STATUSES, FAILURE_REASONS, PAIR_STATES]);
  });

  it("uses only served metrics in its examples", () => {
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

/** The metrics of the lists: "`name` (labels): meaning". The type follows from the name, or is written before the labels. */
function metricsOf(markdown: string): readonly (Described & { readonly meaning: string })[] {
  return itemsOf(markdown).flatMap((item) => {
    const [, name = "", kind, labels = "", meaning = ""] =
      /^`(synclag_\w+)`(?: \((?:(\w+); )?(.*?)\))?: (.*)/.exec(item) ?? [];
    const type = kind ?? (name.endsWith("_total") ? "counter" : "gauge");
    const names = labels === "" ? [] : labels.split(", ");
    return name === ""
      ? []
      : [{ name, type, labels: names.flatMap((label) => SHORTHANDS[label] ?? codes(label)), meaning }];
  });
}

/** The items of all lists, each in one line. */
function itemsOf(markdown: string): readonly string[] {
  return [...markdown.matchAll(/^- (.*(?:\n {2}\S.*)*)/gm)].map(([, item = ""]) =>
    item.replaceAll("\n ", ""),
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
