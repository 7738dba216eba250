import { endpointsOf } from "../core/model/fleet.ts";
import {
  type Counted,
  type Counts,
  DURATION_BUCKETS_SECONDS,
  type MetricsSource,
} from "../core/model/metrics-source.ts";
import { labelText, type MetricSample } from "./exposition.ts";
import { endpointLabels } from "./labels.ts";

/** The histograms of the durations of requests that carry queries of probes. */
export function* queryDurationSamples({ counts, fleet }: MetricsSource): Iterable<MetricSample> {
  for (const endpoint of endpointsOf(fleet)) {
    const own = counts.get(endpoint.key) ?? {};
    for (const probe of new Set(endpoint.selections?.map((one) => one.probe))) {
      if (own[`query ${probe} seconds`] !== undefined) {
        const labels = `${endpointLabels(endpoint)},${labelText("probe", probe)}`;
        yield* histogramSamples(labels, [own], `query ${probe} `);
      }
    }
  }
}

/** The series of one histogram. The names of its counts begin with `prefix`. */
export function* histogramSamples(
  labels: string,
  counts: readonly Counts[],
  prefix: "" | `query ${string} `,
): Iterable<MetricSample> {
  let count = 0;
  for (const bound of DURATION_BUCKETS_SECONDS) {
    count += sumOf(counts, `${prefix}within: ${bound}`);
    yield [`le="${Number.isFinite(bound) ? bound : "+Inf"}",${labels}`, count, "_bucket"];
  }
  yield [labels, sumOf(counts, `${prefix}seconds`), "_sum"];
  yield [labels, count, "_count"];
}

export function sumOf(counts: readonly Counts[], counted: Counted): number {
  return counts.reduce((sum, one) => sum + (one[counted] ?? 0), 0);
}
