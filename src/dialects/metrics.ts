import type { Endpoint, MetricsForm } from "../core/model/fleet.ts";
import { groupBy } from "../core/model/group-by.ts";
import { NOT_STARTED, type Question, type Row, type RowContent, type RowsOrReason } from "./dialect.ts";
import { readHead, unreadable } from "./form.ts";
import { quote, readPositiveInteger, readTimestampSec } from "./values.ts";

type AskedEndpoint = Pick<Endpoint, "targets"> & Partial<Pick<Endpoint, "chain" | "chainId">>;

/** A line of the Prometheus text format. */
interface MetricLine {
  /** The name and the labels, as they are written. */
  readonly series: string;
  /** Null if the form has no label for the chain; undefined if the labels belong to no wanted chain. */
  readonly chainId: number | null | undefined;
  /** The text `NaN` means "unknown", and is read as -1. A text that is not a number is read as `Number.NaN`. */
  readonly value: number;
}

/** A name with its labels between braces, and the value; a timestamp or an exemplar may follow. */
const LINE = /^([a-z_:][\w:]*(?:[ \t]*\{(?:[^"}]|"(?:[^"\\]|\\.)*")*\})?)[ \t]+(\S+)/i;
const LABEL = /\b([a-z_]\w*)[ \t]*=[ \t]*"((?:[^"\\]|\\.)*)"/gi;

/**
 * A GET of a Prometheus text page (0.0.4, or OpenMetrics). Only the gauges of the form are kept. If a chain has several series,
 * such as one for each contract, the lowest height and the earliest time count. NaN, -1, 0, and a declared gauge without series
 * mean that nothing is indexed yet.
 */
export function metricsQuestion(form: MetricsForm, endpoint: AskedEndpoint): Question {
  const { height, time = height } = form;
  return {
    body: null,
    reads: "metrics",
    keep: [`# TYPE ${height} `, height, nameOfTime(time)],
    read: ({ value }) => readMetrics(form, endpoint, String(value)),
  };
}

function readMetrics(form: MetricsForm, endpoint: AskedEndpoint, page: string): RowsOrReason {
  const { height } = form;
  const byChain = (name: string | undefined) =>
    groupBy(linesOf(name, page, form, endpoint), ({ chainId }) => chainId);
  const [heights, times] = [byChain(height), byChain(form.time && nameOfTime(form.time))];
  const rows = [...heights].flatMap(([chainId, samples]): readonly Row[] => {
    const time = times.size === 0 ? null : (times.get(chainId) ?? []);
    return chainId === undefined ? [] : [{ chainId, content: readContent(form, samples, time) }];
  });
  if (heights.size === 0) {
    // Client libraries declare a gauge with labels from the start, but write a series only once it has a value.
    const isDeclared = page.includes(`# TYPE ${height} `);
    return isDeclared ? [NOT_STARTED] : `Cannot find ${height} among the metrics of the page`;
  }
  const others = quote((heights.get(undefined) ?? []).map(({ series }) => series).join(", "));
  return rows.length > 0
    ? rows
    : `Cannot tell which chain ${height} belongs to: found ${others}; map labels to chains with metrics.where and metrics.chains in chains.yaml`;
}

/** The name of the gauge of the time. In a form, a `?` after it means that the gauge may be absent. */
function nameOfTime(time: string): string {
  return time.replace(/\?$/, "");
}

/** The content of a chain's series. `time`: null if the page has no gauge of the time. */
function readContent(
  form: MetricsForm,
  height: readonly MetricLine[],
  time: readonly MetricLine[] | null,
): RowContent {
  const lowest = lowestOf(height);
  if (lowest === -1) {
    return NOT_STARTED.content;
  }
  const timestampSec = readTimestampSec(lowestOf(time ?? []));
  const details = { timestampSec, hash: null, deployment: null, indexingErrors: null };
  const content = readHead(
    { value: Number.isNaN(lowest) ? "not a number" : lowest, name: form.height },
    details,
  );
  const flaw = content.kind === "head" && timestampSec === null ? whyNoTime(form.time, time) : null;
  return flaw === null ? content : unreadable(flaw);
}

/**
 * Why the time cannot be read. Null if it can be read, or is unknown: NaN, -1, 0, or no series of the chain. `samples`: null if
 * the page has no gauge of the time.
 */
function whyNoTime(name: string | undefined, samples: readonly MetricLine[] | null): string | null {
  if (name === undefined || name.endsWith("?")) {
    return null;
  }
  if (samples === null) {
    return `Cannot find ${name}, the gauge of metrics.time in chains.yaml`;
  }
  const odd = samples.find(({ value }) => value !== -1 && value !== 0 && readTimestampSec(value) === null);
  const found = Number.isNaN(odd?.value) ? "not a number" : odd?.value;
  return odd === undefined ? null : `Cannot read ${name} as a time: ${quote(odd.series)} is ${found}`;
}

/** The lines of a metric. The value of a line that cannot be read is NaN. */
function linesOf(name: string | undefined, page: string, form: MetricsForm, endpoint: AskedEndpoint) {
  const lines = page.split("\n").filter((line) => /^[\w:]*/.exec(line)?.[0] === name);
  return lines.map((line): MetricLine => {
    const [, series = line, value = "none"] = LINE.exec(line) ?? [];
    const labels = Array.from(series.matchAll(LABEL), ([, label = "", text = ""]): [string, string] => [
      label,
      text.replace(/\\(.)/g, (_, after: string) => (after === "n" ? "\n" : after)),
    ]);
    const chainId = chainIdOf(new Map(labels), form, endpoint);
    return { series, chainId, value: /^[+-]?nan$/i.test(value) ? -1 : Number(value) };
  });
}

function chainIdOf(
  labels: ReadonlyMap<string, string>,
  { chain: label, chains = {}, where = {} }: MetricsForm,
  { targets, chain = null, chainId = 0 }: AskedEndpoint,
): MetricLine["chainId"] {
  if (Object.entries(where).some(([name, wanted]) => labels.get(name) !== wanted)) {
    return undefined;
  }
  if (label === undefined) {
    return null;
  }
  const value = labels.get(label) ?? "";
  const name = (Object.hasOwn(chains, value) ? chains[value] : undefined) ?? value;
  const served = [...targets, { chain, chainId, deployment: undefined }];
  const known = served.find((one) => one.chain === name || one.deployment === name);
  return known?.chainId ?? readPositiveInteger(value.replace(/^\w+:/, "")) ?? undefined;
}

/** The lowest value; NaN if one is not a number, infinite without samples. */
function lowestOf(samples: readonly MetricLine[]): number {
  return samples.reduce((lowest, { value }) => Math.min(lowest, value), Number.POSITIVE_INFINITY);
}
