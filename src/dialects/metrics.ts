import type { Endpoint, MetricsForm } from "../core/model/fleet.ts";
import { groupBy } from "../core/model/group-by.ts";
import type { Question, Reading, Row, RowContent } from "./dialect.ts";
import { readHead } from "./form.ts";
import { describeValue, quote, readPositiveInteger, readTimestampSec } from "./values.ts";

type AskedEndpoint = Pick<Endpoint, "targets"> & Partial<Pick<Endpoint, "chain" | "chainId">>;

/** A line of the Prometheus text format with a value. */
interface Sample {
  readonly name: string;
  /** The name and the labels, as they are written. */
  readonly series: string;
  readonly labels: ReadonlyMap<string, string>;
  readonly value: number | string;
}

/** A name, its labels between braces, and the value; a timestamp or an exemplar may follow. */
const LINE = /^([a-z_:][\w:]*)[ \t]*(?:\{((?:[^"}]|"(?:[^"\\]|\\.)*")*)\})?[ \t]+(\S+)/i;
const LABEL = /([a-z_]\w*)[ \t]*=[ \t]*"((?:[^"\\]|\\.)*)"/gi;

/**
 * One GET of a Prometheus text page (0.0.4, or OpenMetrics), of which only these gauges are kept. A chain of several series, such
 * as one for each contract, has indexed what all of them have: the lowest height and the earliest time. NaN, -1, 0, and a gauge
 * that is declared and has no series mean that nothing is indexed yet.
 */
export function metricsQuestion(form: MetricsForm, endpoint: AskedEndpoint): Question {
  const { height, time } = form;
  return {
    body: null,
    reads: "metrics",
    keep: [height, typeLineOf(height), ...(time === undefined ? [] : [time])],
    read: ({ value }) => readMetrics(form, endpoint, String(value)),
  };
}

function readMetrics(form: MetricsForm, endpoint: AskedEndpoint, page: string): Reading {
  const { height, time, where = {} } = form;
  const names = [height, time];
  const samples = page.split("\n").flatMap((line) => parseLine(line, names) ?? []);
  const wanted = samples.filter(({ labels }) =>
    Object.entries(where).every(([label, value]) => labels.get(label) === value),
  );
  const heights = wanted.filter(({ name }) => name === height);
  if (heights.length === 0) {
    const other = samples.find(({ name }) => name === height);
    if (other === undefined && page.includes(typeLineOf(height))) {
      return [{ chainId: null, content: { kind: "not_started" } }];
    }
    const found = other === undefined ? "other metrics" : quote(other.series);
    const labels = Object.entries(where).map(([label, value]) => ` ${label}=${describeValue(value)}`);
    return `Cannot find ${height}${labels.join()}: the page has ${found}`;
  }
  const chainOf = (sample: Sample) => chainIdOf(form, endpoint, sample);
  const times = groupBy(
    wanted.filter(({ name }) => name === time),
    chainOf,
  );
  const rows = [...groupBy(heights, chainOf)].flatMap(([chainId, ofChain]): readonly Row[] =>
    chainId === undefined ? [] : [{ chainId, content: lowestOf(ofChain, times.get(chainId) ?? []) }],
  );
  return rows.length === 0 ? describeUnknownChains(form, heights) : rows;
}

/** Client libraries declare a gauge with labels from the start, and its series once they have a value. */
function typeLineOf(name: string): string {
  return `# TYPE ${name} `;
}

/** Null for a comment, and for a metric that was not asked for. A line that cannot be read has an empty value. */
function parseLine(line: string, names: readonly (string | undefined)[]): Sample | null {
  const name = /^[\w:]*/.exec(line)?.[0] ?? "";
  if (!names.includes(name)) {
    return null;
  }
  const [, , labels = "", value = ""] = LINE.exec(line) ?? [];
  const pairs = Array.from(
    labels.matchAll(LABEL),
    ([, label = "", text = ""]) => [label, unescaped(text)] as const,
  );
  const series = labels === "" ? name : `${name}{${labels}}`;
  return { name, series, labels: new Map(pairs), value: numberIn(value) };
}

/** -1 for NaN, which means the same; what is no number stays as it is. */
function numberIn(text: string): number | string {
  if (/^[+-]?nan$/i.test(text)) {
    return -1;
  }
  return text === "" || Number.isNaN(Number(text)) ? text : Number(text);
}

function unescaped(text: string): string {
  return text.replace(/\\(.)/g, (_, character: string) => (character === "n" ? "\n" : character));
}

/** The chain of a series; null if the page has one chain, undefined if the label names an unknown chain. */
function chainIdOf(
  { chain: label, chains = {} }: MetricsForm,
  { targets, chain = null, chainId = 0 }: AskedEndpoint,
  { labels }: Sample,
): number | null | undefined {
  if (label === undefined) {
    return null;
  }
  const value = labels.get(label) ?? "";
  const known = [...targets, { chain, chainId, deployment: undefined }].find(
    (one) => one.chain === value || one.deployment === value,
  );
  const id = /^(?:\w+:)?(\d+)$/.exec(value)?.[1];
  return chains[value] ?? known?.chainId ?? readPositiveInteger(id) ?? undefined;
}

const MAX_NAMED = 5;

function describeUnknownChains({ height, chain = "" }: MetricsForm, heights: readonly Sample[]): string {
  const values = new Set(heights.map(({ labels }) => describeValue(labels.get(chain))));
  const found = `${chain} ${[...values].slice(0, MAX_NAMED).join(", ")}`;
  return `Cannot tell which chains ${height} is of: found ${found}, expected an ID, a slug or a deployment of chains.yaml; metrics: { chains: { VALUE: SLUG } } maps other values`;
}

/** What the series of one chain say together: a fault first, then that one of them has not started, then the lowest height. */
function lowestOf(heights: readonly Sample[], times: readonly Sample[]): RowContent {
  const timestamps = times.flatMap(({ value }) => readTimestampSec(value) ?? []);
  const timestampSec = timestamps.length === 0 ? null : Math.min(...timestamps);
  const contents = heights.map(
    ({ series, value }): RowContent =>
      value === -1
        ? { kind: "not_started" }
        : readHead(
            { value, name: quote(series) },
            { timestampSec, hash: null, deployment: null, indexingErrors: null },
          ),
  );
  const [first = { kind: "not_started" }] = contents.toSorted((a, b) => rankOf(a) - rankOf(b));
  return first;
}

function rankOf(content: RowContent): number {
  if (content.kind === "head") {
    return content.head.block;
  }
  return content.kind === "failed" ? -2 : -1;
}
