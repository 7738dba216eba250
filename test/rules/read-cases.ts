import { readWithoutNote } from "../support/golden.ts";
import { fleet, type TestTarget, target } from "./fleet-series.ts";
import {
  type ExpectedSamples,
  type Firing,
  type InputSeries,
  type Labels,
  metric,
  onlyFiring,
  type RuleTest,
} from "./rule-test.ts";

/** Abbreviations of several labels. */
const SHORT: Readonly<Record<string, Labels>> = {
  PAIR: { protocol: "airdrops", chain: "base", chain_id: "8453" },
  INDEXER: { protocol: "airdrops", variant: "subgraph", tier: "production" },
  STUDIO: {
    ...{ budget: "studio", protocol: "airdrops", variant: "subgraph", tier: "testing", endpoint: "base" },
  },
  GATEWAY: { budget: "gateway", endpoint: "shared" },
  A: { job: "synclag", instance: "synclag:9855" },
  B: { job: "synclag", instance: "b" },
};
const SEVERITIES: Readonly<Record<string, string>> = {
  page: "critical",
  ticket: "warning",
  watchdog: "none",
};

/** The cases of a file of this folder, whose note explains the lines. */
export function readCases(name: string, about: NonNullable<RuleTest["about"]>): readonly RuleTest[] {
  const text = readWithoutNote(new URL(name, import.meta.url));
  const cases = text.trimEnd().split("\n\n").flatMap(eachRow);
  return cases.map((lines) => ({ about, ...readCase(lines.split("\n")) }));
}

function eachRow(text: string): readonly string[] {
  const [line = "", names = "", rows = ""] = /^each (.*): (.*)\n/m.exec(text) ?? [];
  return rows.split(", ").map((row) => {
    const words = row.split(" ");
    const named = line === "" ? [] : names.split(" ");
    return named.reduce((filled, one, at) => filled.replaceAll(one, words[at] ?? ""), text.replace(line, ""));
  });
}

interface Case {
  readonly series: InputSeries[];
  readonly fires: Record<string, Firing[]>;
  readonly queries: ExpectedSamples[];
  /** What fires at the instant that was read last. */
  latest: Firing[];
  /** Of the fleet that is being read. */
  minutes: number;
  targets: TestTarget[];
}

/** The kinds of lines, and how each changes the case. */
const LINES: readonly (readonly [pattern: RegExp, read: (play: Case, ...parts: string[]) => void])[] = [
  [
    /^minutes (\d+)$/,
    (play, minutes = "") => {
      endFleet(play);
      play.minutes = Number(minutes);
    },
  ],
  [
    /^ {4}([\w-]+): (.*)$/,
    (play, field = "", words = "") => play.latest.push(filled(play.latest.pop(), field, words)),
  ],
  [
    /^(\d+m) (nothing|page|ticket)(?: (\w+)\{(.*)\})?$/,
    (play, at = "", what = "", name = "", labels = "") => {
      play.latest = play.fires[at] ?? [];
      play.fires[at] = play.latest;
      play.latest.push(...(what === "nothing" ? [] : [firing(what, name, labels)]));
    },
  ],
  [
    /^(\d+m) (?:no|only (\w+)) (\w+)(?:\{(.*)\})?$/,
    (play, at = "", what = "", name = "", labels = "") =>
      play.queries.push(
        onlyFiring(at, `alertname="${name}"`, what === "" ? [] : [firing(what, name, labels)]),
      ),
  ],
  [
    /^(\w+)\{(.*)\}: (.*)$/,
    (play, name = "", labels = "", values = "") => {
      endFleet(play);
      play.series.push(metric(name, labelsOf(labels), /^-?\d+$/.test(values) ? Number(values) : values));
    },
  ],
  [
    /^(\S+?)((?: [\w=-]+)*): (.*)$/,
    (play, name = "", options = "", timeline = "") =>
      play.targets.push(
        ...targetsNamed(name).map((labels) => ({ timeline, ...withOptions(labels, options) })),
      ),
  ],
];

function readCase([title = "", ...lines]: readonly string[]): Omit<RuleTest, "about"> {
  const play: Case = { series: [], fires: {}, queries: [], latest: [], minutes: 0, targets: [] };
  for (const line of lines) {
    const [pattern, read] = LINES.find(([one]) => one.test(line)) ?? [];
    if (pattern === undefined) {
      throw new RangeError(`Cannot read ${line}`);
    }
    read?.(play, ...(pattern.exec(line) ?? []).slice(1));
  }
  endFleet(play);
  const { series, fires, queries } = play;
  return { name: title.replace("# ", ""), series, fires, queries };
}

function endFleet(play: Case): void {
  play.series.push(...fleet(play.minutes, ...play.targets));
  play.targets = [];
}

function firing(what: string, name: string, labels: string): Firing {
  return { name, severity: SEVERITIES[what] ?? "", labels: labelsOf(labels) };
}

/** An alert whose texts are tested, with one more field; `texts`: they have none. */
function filled(alert: Firing | undefined, field: string, words: string): Firing {
  if (alert === undefined) {
    throw new RangeError(`Cannot fill in ${field}: there is no alert above it`);
  }
  const text = words.replace(/^"(.*)"$/, "$1");
  const known: Readonly<Record<string, Firing["texts"]>> = { texts: {}, value: { value: text } };
  const others = { ...alert.texts?.others, [field]: text };
  return { ...alert, texts: { ...alert.texts, ...(known[field] ?? { others }) } };
}

/** ` testnet maintenance heard=300 instance=a` */
function withOptions(labels: Labels, text: string): Omit<TestTarget, "timeline"> {
  const words = text.split(" ");
  const { heard, ...others } = Object.fromEntries(
    words.filter((word) => word.includes("=")).map((word) => word.split("=")),
  ) as Labels;
  return {
    labels: { ...labels, ...others },
    testnet: words.includes("testnet"),
    maintenance: words.includes("maintenance"),
    ...(heard === undefined ? {} : { lastSuccess: Number(heard) }),
  };
}

function labelsOf(text: string): Labels {
  const parts = text === "" ? [] : text.split(", ");
  return Object.fromEntries(parts.flatMap((part) => Object.entries(partOf(part))));
}

function partOf(part: string): Labels {
  const [name = "", value] = part.split("=");
  return value === undefined ? (SHORT[name] ?? targetsNamed(name)[0] ?? {}) : { [name]: value };
}

function targetsNamed(name: string): readonly Labels[] {
  const [, variant, tier = "production", chain = "base", first = "", last = first] =
    /^(\w+)(?:\/(\w+))?(?:@([a-z]+)(?:(\d+)(?:\.\.(\d+))?)?)?$/.exec(name) ?? [];
  if (variant === undefined) {
    throw new RangeError(`Cannot read ${name}: expected VARIANT[/TIER][@CHAIN[FIRST..LAST]]`);
  }
  const count = Number(last) - Number(first) + 1;
  return Array.from({ length: count }, (_, at) => {
    const slug = first === "" ? chain : `${chain}${Number(first) + at}`;
    return target(variant, { tier, chain: slug, chain_id: slug === "base" ? "8453" : String(slug.length) });
  });
}
