import type { Endpoint, MetricsForm } from "../core/model/fleet.ts";
import { groupBy } from "../core/model/group-by.ts";
import type { Question, Reading, Row, RowContent } from "./dialect.ts";
import { readHead, unreadable } from "./form.ts";
import { describeValue, quote, readPositiveInteger, readTimestampSec } from "./values.ts";

type AskedEndpoint = Pick<Endpoint, "targets"> & Partial<Pick<Endpoint, "chain" | "chainId">>;

/** A line of the Prometheus text format with a value. */
interface Sample {
  readonly name: string;
  /** As it is written, with its labels. */
  readonly series: string;
  readonly labels: ReadonlyMap<string, string>;
  /** As it is written. */
  readonly value: string;
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
  const parsed = page.split("\n").flatMap((line) => parseLine(line, [height, time]) ?? []);
  const broken = parsed.find((sample) => typeof sample === "string");
  if (broken !== undefined) {
    return `Cannot read the line ${describeValue(broken)} of the page`;
  }
  const samples = parsed.filter((sample) => typeof sample !== "string");
  const ofHeight = samples.filter(({ name }) => name === height);
  const wanted = samples.filter(({ labels }) =>
    Object.entries(where).every(([label, value]) => labels.get(label) === value),
  );
  const heights = wanted.filter(({ name }) => name === height);
  const [first] = ofHeight;
  if (first === undefined) {
    return page.includes(typeLineOf(height))
      ? [{ chainId: null, content: { kind: "not_started" } }]
      : `Cannot find ${height} on the page, which has other metrics`;
  }
  if (heights.length === 0) {
    return `Cannot find ${height} with ${labelsOf(where)}: the page has ${quote(first.series)}`;
  }
  const chainOf = (sample: Sample): number | null | undefined => chainIdOf(form, endpoint, sample);
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

/** Undefined for a comment and for a metric that was not asked for; a text for a line of one of `names` that cannot be read. */
function parseLine(line: string, names: readonly (string | undefined)[]): Sample | string | undefined {
  const name = /^[\w:]*/.exec(line)?.[0] ?? "";
  if (!names.includes(name)) {
    return undefined;
  }
  const [, , labels = "", value] = LINE.exec(line) ?? [];
  if (value === undefined) {
    return line;
  }
  const pairs = Array.from(
    labels.matchAll(LABEL),
    ([, label = "", text = ""]) => [label, unescaped(text)] as const,
  );
  return { name, series: labels === "" ? name : `${name}{${labels}}`, labels: new Map(pairs), value };
}

function unescaped(text: string): string {
  return text.replace(/\\(.)/g, (_, character: string) => (character === "n" ? "\n" : character));
}

function labelsOf(labels: Readonly<Record<string, string>>): string {
  return Object.entries(labels)
    .map(([label, value]) => `${label}=${describeValue(value)}`)
    .join(", ");
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
  const values = [...new Set(heights.map(({ labels }) => describeValue(labels.get(chain))))];
  const more = values.length > MAX_NAMED ? ", …" : "";
  const found = `${chain} ${values.slice(0, MAX_NAMED).join(", ")}${more}`;
  return `Cannot tell which chains ${height} is of: found ${found}, expected an ID, a slug or a deployment of chains.yaml; metrics: { chains: { VALUE: SLUG } } maps other values`;
}

/** What the series of one chain say together: a fault first, then that one of them has not started, then the lowest height. */
function lowestOf(heights: readonly Sample[], times: readonly Sample[]): RowContent {
  const timestamps = times.flatMap(({ value }) => readTimestampSec(Number(value)) ?? []);
  const timestampSec = timestamps.length === 0 ? null : Math.min(...timestamps);
  const bySeries = new Map<string, Sample>();
  for (const sample of heights) {
    const earlier = bySeries.get(sample.series) ?? sample;
    if (earlier.value !== sample.value) {
      return unreadable(
        `Cannot use contradictory values of ${quote(sample.series)}: ${describeValue(earlier.value)} and ${describeValue(sample.value)}`,
      );
    }
    bySeries.set(sample.series, sample);
  }
  const contents = Array.from(bySeries.values(), (sample) => contentOf(sample, timestampSec));
  const unusable =
    contents.find(({ kind }) => kind === "failed") ?? contents.find(({ kind }) => kind !== "head");
  return unusable ?? contents.reduce((lowest, one) => (blockOf(one) < blockOf(lowest) ? one : lowest));
}

function blockOf(content: RowContent): number {
  return content.kind === "head" ? content.head.block : Number.POSITIVE_INFINITY;
}

function contentOf({ series, value }: Sample, timestampSec: number | null): RowContent {
  const number = Number(value);
  if (number === -1 || /^[+-]?nan$/i.test(value)) {
    return { kind: "not_started" };
  }
  return readHead(
    { value: Number.isNaN(number) ? value : number, name: quote(series) },
    { timestampSec, hash: null, deployment: null, indexingErrors: null },
  );
}
