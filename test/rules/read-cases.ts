import { readFileSync } from "node:fs";
import { z } from "zod";
import { fleet, type TestTarget, target } from "./fleet-series.ts";
import { type Firing, type InputSeries, type Labels, metric, type RuleTest } from "./rule-test.ts";

/** What stands for several labels. */
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

/**
 * The cases of a file of this folder, each a title and lines. Labels are `name=value`, an abbreviation of `SHORT`, or a target such as
 * `subgraph`, `subgraph/testing` or `subgraph@form`.
 *
 * - `minutes 30` and below it `TARGET [testnet] [maintenance] [heard=300]: TIMELINE`: a fleet, see `TestTarget`;
 * - `METRIC{LABELS}: VALUES`: a series in promtool's notation;
 * - `12m nothing`, `12m page ALERT{LABELS}` or `ticket`: all that fires then; indented below it what its texts are filled with.
 */
export function readCases(
  name: string,
  about: NonNullable<RuleTest["about"]> = "fleet",
): readonly RuleTest[] {
  const text = readFileSync(new URL(name, import.meta.url), "utf8");
  return text
    .trimEnd()
    .split("\n\n")
    .map((lines) => ({ about, ...readCase(lines.split("\n")) }));
}

/** What a line may be, and what becomes of the case by it. */
const LINES: readonly {
  readonly pattern: RegExp;
  readonly read: (play: Case, ...parts: string[]) => void;
}[] = [
  {
    pattern: /^minutes (\d+)$/,
    read: (play, minutes = "") => {
      endFleet(play);
      play.minutes = Number(minutes);
    },
  },
  {
    pattern: /^ {4}([\w-]+): (.*)$/,
    read: (play, field = "", words = "") => play.latest.push(filled(play.latest.pop(), field, words)),
  },
  {
    pattern: /^(\d+m) (nothing|page|ticket)(?: (\w+)\{(.*)\})?$/,
    read: (play, at = "", what = "", name = "", labels = "") => {
      play.latest = play.fires[at] ?? [];
      play.fires[at] = play.latest;
      const severity = what === "page" ? "critical" : "warning";
      play.latest.push(
        ...(what === "nothing" ? [] : [{ name, severity, labels: labelsOf(labels) } as const]),
      );
    },
  },
  {
    pattern: /^(\w+)\{(.*)\}: (.*)$/,
    read: (play, name = "", labels = "", values = "") => {
      endFleet(play);
      play.series.push(metric(name, labelsOf(labels), /^-?\d+$/.test(values) ? Number(values) : values));
    },
  },
  {
    pattern: /^(\S+?)((?: [\w=-]+)*): (.*)$/,
    read: (play, name = "", options = "", timeline = "") =>
      play.targets.push({ labels: targetNamed(name), timeline, ...optionsOf(options, name) }),
  },
];

interface Case {
  readonly series: InputSeries[];
  readonly fires: Record<string, Firing[]>;
  /** What fires at the instant that was read last. */
  latest: Firing[];
  /** Of the fleet that is being read. */
  minutes: number;
  targets: TestTarget[];
}

function readCase([title = "", ...lines]: readonly string[]): Omit<RuleTest, "about"> {
  const play: Case = { series: [], fires: {}, latest: [], minutes: 0, targets: [] };
  for (const line of lines) {
    const kind = LINES.find(({ pattern }) => pattern.test(line));
    if (kind === undefined) {
      throw new RangeError(`Cannot read ${line}`);
    }
    kind.read(play, ...(kind.pattern.exec(line) ?? []).slice(1));
  }
  endFleet(play);
  return { name: title.replace("# ", ""), series: play.series, fires: play.fires };
}

function endFleet(play: Case): void {
  play.series.push(...fleet(play.minutes, ...play.targets));
  play.targets = [];
}

/** An alert whose texts are tested, with one more field; `texts`: they have none. */
function filled(alert: Firing | undefined, field: string, words: string): Firing {
  if (alert === undefined) {
    throw new RangeError(`Cannot fill in ${field}: there is no alert above it`);
  }
  const text = words.startsWith('"') ? z.string().parse(JSON.parse(words)) : words;
  const { others, ...texts } = alert.texts ?? {};
  switch (field) {
    case "texts":
      return { ...alert, texts };
    case "value":
      return { ...alert, texts: { ...alert.texts, value: text } };
    default:
      return { ...alert, texts: { ...texts, others: { ...others, [field]: text } } };
  }
}

/** ` testnet maintenance heard=300 instance=a` */
function optionsOf(text: string, name: string): Partial<TestTarget> {
  const options = new Map(text.split(" ").map((word) => [word.replace(/=.*/, ""), word.replace(/.*=/, "")]));
  const heard = options.get("heard");
  const instance = options.get("instance");
  return {
    testnet: options.has("testnet"),
    maintenance: options.has("maintenance"),
    ...(heard === undefined ? {} : { lastSuccess: Number(heard) }),
    ...(instance === undefined ? {} : { labels: { ...targetNamed(name), instance } }),
  };
}

function labelsOf(text: string): Labels {
  const parts = text === "" ? [] : text.split(", ");
  return Object.fromEntries(parts.map(partOf).flatMap((part) => Object.entries(part)));
}

function partOf(part: string): Labels {
  const [name = "", value] = part.split("=");
  return value === undefined ? (SHORT[name] ?? targetNamed(name)) : { [name]: value };
}

function targetNamed(name: string): Labels {
  const [, variant = "", tier = "production", chain = "base"] =
    /^(\w+)(?:\/(\w+))?(?:@(\w+))?$/.exec(name) ?? [];
  if (variant === "") {
    throw new RangeError(`Cannot read ${name}: expected VARIANT[/TIER][@CHAIN]`);
  }
  const id = chain === "base" ? "8453" : String(chain.length);
  return target(variant, { tier, chain, chain_id: id });
}
