import { groupBy } from "../../src/core/model/group-by.ts";
import type { ChainSummary, TargetReport } from "../../src/core/model/report.ts";
import type { Status } from "../../src/core/model/statuses.ts";
import { PAIR_STATES, pairState } from "../../src/core/report/pairs.ts";
import { type InputSeries, type Labels, metric } from "./rule-test.ts";

/** A target and what it is over time. */
export interface TestTarget {
  readonly labels: Labels;
  /**
   * Phases as `STATUS[:LAG] MINUTES`, such as `ok:5 10, stalled 20, ok`. Without LAG, in seconds, the lag is unknown; the last
   * phase lasts to the end; `, again` at the end: the phases repeat.
   */
  readonly timeline: string;
  readonly testnet?: boolean;
  readonly maintenance?: boolean;
  /** When it last answered, in seconds of the test. Default: a moment ago. */
  readonly lastSuccess?: number;
}

const WITHOUT_HEIGHT: ReadonlySet<Status> = new Set([
  ...(["unknown", "rejected", "throttled", "not_found", "unreachable", "missing", "diverged"] as const),
]);
const LIMITS = { lagging: 600, critical: 1800, stalled: 600 } as const;

/** Labels of a target on Base, with what differs. */
export function target(variant: string, overrides: Labels = {}): Labels {
  return { protocol: "airdrops", variant, tier: "production", chain: "base", chain_id: "8453", ...overrides };
}

/** The series of a fleet, as the daemon has them: the state of a pair is what the daemon makes of its targets. */
export function fleet(minutes: number, ...targets: readonly TestTarget[]): readonly InputSeries[] {
  const played = targets.map((one) => ({ ...one, phases: phasesOf(one.timeline, minutes) }));
  const pairs = groupBy(played, ({ labels }) => `${labels["protocol"]}/${labels["chain"]}`);
  const chains = groupBy(
    targets.map(({ labels: { protocol: _p, variant: _v, tier: _t, ...labels } }) => labels),
    (labels) => JSON.stringify(labels),
  );
  return [
    ...played.flatMap(targetSeries),
    ...[...pairs.values()].flatMap((pair) => pairSeries(pair, minutes)),
    ...[...chains.values()].flatMap(([labels]) => metric("synclag_reference_block_number", labels ?? {}, 1)),
  ];
}

type Played = TestTarget & { readonly phases: readonly Phase[] };

interface Phase {
  readonly status: Status;
  readonly lag: number | null;
}

/** The status of the target in each minute. */
function phasesOf(timeline: string, minutes: number): readonly Phase[] {
  const once = timeline.replace(", again", "");
  const phases = once.split(", ").flatMap((text) => {
    const [, status, lag, count] = /^([a-z_]+)(?::(\d+))?(?: (\d+))?$/.exec(text) ?? [];
    if (status === undefined) {
      throw new Error(`Cannot read phase ${JSON.stringify(text)}: expected STATUS[:LAG] [MINUTES]`);
    }
    // The pattern allows no other status than the rules name.
    const phase: Phase = { status: status as Status, lag: lag === undefined ? null : Number(lag) };
    return Array.from({ length: count === undefined ? minutes : Number(count) }, () => phase);
  });
  const times = once === timeline ? 1 : Math.ceil(minutes / phases.length);
  return Array.from({ length: times }, () => phases)
    .flat()
    .slice(0, minutes);
}

function targetSeries(of: Played): readonly InputSeries[] {
  const { labels, phases, testnet = false, maintenance = false, lastSuccess } = of;
  const statuses = [...new Set(["ok", "rejected", ...phases.map(({ status }) => status)])];
  const lags = phases.map(({ lag }) => lag);
  let advanced = 0;
  const advances = phases.map(({ status }, minute) => {
    advanced = status === "stalled" ? advanced : minute * 60;
    return advanced;
  });
  return [
    ...statuses.map((status) =>
      metric(
        "synclag_status",
        { ...labels, status, testnet: String(testnet) },
        notation(phases.map((phase) => Number(phase.status === status))),
      ),
    ),
    ...Object.entries(LIMITS).map(([level, seconds]) =>
      metric("synclag_threshold_seconds", { ...labels, level }, seconds),
    ),
    ...(lags.every((lag) => lag === null) ? [] : [metric("synclag_lag_seconds", labels, notation(lags))]),
    metric("synclag_up", labels, notation(phases.map(({ status }) => Number(!WITHOUT_HEIGHT.has(status))))),
    metric("synclag_maintenance", labels, Number(maintenance)),
    metric("synclag_preferred", labels, notation(phases.map(({ status }) => Number(status === "ok")))),
    metric("synclag_last_success_timestamp_seconds", labels, lastSuccess ?? `0+60x${phases.length - 1}`),
    metric("synclag_last_advance_timestamp_seconds", labels, notation(advances)),
  ];
}

function pairSeries(targets: readonly Played[], minutes: number): readonly InputSeries[] {
  const [first] = targets;
  const { variant: _v, tier: _t, ...labels } = first?.labels ?? {};
  const states = Array.from({ length: minutes }, (_, minute) =>
    pairState({
      // The state of a pair depends on these properties alone.
      chain: {
        dispute: null,
        thresholds: { critical_seconds: LIMITS.critical, critical_blocks: null },
      } as ChainSummary,
      differing: new Set(),
      targets: targets.map(({ labels: of, phases }) => {
        const { status = "unknown", lag = null } = phases[minute] ?? {};
        return {
          tier: of["tier"],
          served: true,
          status,
          lag_seconds: lag,
          lag_blocks: null,
          thresholds: null,
          ended: null,
        } as TargetReport;
      }),
    }),
  );
  return PAIR_STATES.filter((state) => state === "down" || states.includes(state)).map((state) =>
    metric(
      "synclag_pair_state",
      { ...labels, state, testnet: String(first?.testnet ?? false) },
      notation(states.map((one) => Number(one === state))),
    ),
  );
}

/** A value for each minute in promtool's notation, equal ones in a row as one; `_` is none. */
function notation(values: readonly (number | null)[]): string {
  const starts = [...values.keys()].filter((at) => at === 0 || values[at] !== values[at - 1]);
  const runs = starts.map((start, at) => {
    const [value, count] = [values[start], (starts[at + 1] ?? values.length) - start];
    return value === null ? `_x${count}` : `${value}x${count - 1}`;
  });
  return runs.join(" ");
}
