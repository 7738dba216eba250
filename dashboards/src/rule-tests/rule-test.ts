/** One case for `promtool test rules`: series with a sample per minute, and the alerts expected at some instants. */
export interface RuleTest {
  readonly name: string;
  readonly series: readonly InputSeries[];
  readonly expect: readonly Expectation[];
  /** Expected results of further expressions; by default none. */
  readonly queries?: readonly ExpectedSamples[];
}

/** The expected result of an expression at an instant. */
interface ExpectedSamples {
  readonly expr: string;
  readonly at: string;
  readonly samples: readonly { readonly labels: string; readonly value: number }[];
}

export interface InputSeries {
  readonly series: string;
  /** In the notation of promtool: `1x4` is five samples. */
  readonly values: string;
}

/** The expected instances of one alert at an instant. */
interface Expectation {
  readonly alert: string;
  readonly at: string;
  readonly alerts: readonly Firing[];
}

/** An alert as a person receives it. */
export interface Firing {
  readonly severity: string;
  readonly about?: string;
  readonly labels: Labels;
  readonly summary: string;
  readonly description: string;
  /** The path and query of `dashboard_url`. */
  readonly dashboard: string;
}

type Labels = Readonly<Record<string, string>>;

/** Labels of a target. */
export interface TargetLabels {
  readonly protocol: string;
  readonly variant: string;
  readonly tier: string;
  readonly chain: string;
  readonly chain_id: string;
}

export function target(variant: string, overrides: Partial<TargetLabels> = {}): TargetLabels {
  return {
    protocol: "airdrops",
    variant,
    tier: "production",
    chain: "base",
    chain_id: "8453",
    ...overrides,
  };
}

/** A series: a constant number, or values in promtool's notation. */
export function metric(name: string, labels: object, values: string | number): InputSeries {
  const pairs = Object.entries(labels).map(([label, value]) => `${label}="${String(value)}"`);
  return {
    series: pairs.length === 0 ? name : `${name}{${pairs.join(", ")}}`,
    values: typeof values === "number" ? `${values}x${ALWAYS}` : values,
  };
}

/**
 * The status series of a target from a timeline in minutes such as `ok 5, stalled 20, ok`; the last status stays. Statuses that are
 * not named are left out.
 */
export function statuses(labels: TargetLabels, timeline: string): readonly InputSeries[] {
  const phases = timeline.split(", ").map((phase) => {
    const [status = "", minutes] = phase.split(" ");
    return { status, minutes: minutes === undefined ? ALWAYS : Number(minutes) };
  });
  return [...new Set(["ok", ...phases.map(({ status }) => status)])].map((status) => {
    const values = phases.map((phase) => `${phase.status === status ? 1 : 0}x${phase.minutes - 1}`);
    return metric("synclag_status", { ...labels, status }, values.join(" "));
  });
}

export function preferred(labels: TargetLabels): InputSeries {
  return metric("synclag_preferred", labels, 1);
}

export function inMaintenance(labels: TargetLabels): InputSeries {
  return metric("synclag_maintenance", labels, 1);
}

export function silent(alert: string, ...instants: readonly string[]): readonly Expectation[] {
  return instants.map((at) => ({ alert, at, alerts: [] }));
}

export function fires(alert: string, at: string, ...alerts: readonly Firing[]): Expectation {
  return { alert, at, alerts };
}

/** Longer than any test. */
const ALWAYS = 5_000;
