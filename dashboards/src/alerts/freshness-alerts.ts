import { type Alert, type AlertContext, KEEP_FIRING } from "../alert.ts";
import { type FreshnessWindow, protocolFreshness } from "../freshness.ts";
import { indented } from "../promql.ts";
import { label, PERCENTAGE, say } from "../text.ts";

/** A rate at which the error budget is used up: a factor of 1 uses it up in exactly thirty days. */
interface Burn {
  readonly factor: number;
  readonly long: FreshnessWindow;
  /** The window that shows whether the budget is still being used up. */
  readonly short: FreshnessWindow;
  /** The oldest sixth of the long window: its length, and how long ago it ended. */
  readonly oldest: { readonly span: string; readonly offset: string };
}

/** Uses 2 % of the error budget in an hour, or 5 % in six. */
const FAST: readonly Burn[] = [
  { factor: 14.4, long: "1h", short: "5m", oldest: { span: "10m", offset: "50m" } },
  { factor: 6, long: "6h", short: "30m", oldest: { span: "1h", offset: "5h" } },
];
/** Uses 10 % in three days. */
const SLOW: readonly Burn[] = [
  { factor: 1, long: "3d", short: "6h", oldest: { span: "12h", offset: "60h" } },
];

/** Alerts about the objective over thirty days: many short faults may add up without any other page. */
export function freshnessAlerts(context: AlertContext): readonly Alert[] {
  const percent = `${Number((context.settings.objective * 100).toFixed(3))} %`;
  const burnt = (burns: readonly Burn[]) => burns.map((one) => burning(one, context)).join("\nor\n");
  const burn = (expr: string, pace: string) => ({
    about: "fleet" as const,
    keepFiringFor: KEEP_FIRING,
    dashboard: { uid: "synclag-fleet" as const, variables: ["protocol"] },
    name: "SynclagFreshnessErrorBudgetBurn",
    expr,
    summary: say`${label("protocol")}: fresh for only ${PERCENTAGE} of the time`,
    description: [
      ...say`${label("protocol")} was fresh for only ${PERCENTAGE} of the time, averaged over its chains. The objective is `,
      `${percent} over thirty days; at this rate ${pace}`,
    ],
    first: "see on the dashboard which chains are behind, and which of their variants is ok.",
  });
  return [
    {
      ...burn(withoutPaged(burnt(FAST), context), "its error budget is used up within days."),
      severity: "critical",
      for: "2m",
    },
    { ...burn(burnt(SLOW), "it will be missed."), severity: "warning", for: "15m" },
  ];
}

/**
 * The freshness over the long window, if both windows use up the error budget faster than `factor`. There must be samples at
 * the beginning of the long window, so that ten bad minutes after the first start do not count as a bad hour.
 */
function burning({ factor, long, short, oldest }: Burn, { settings, time }: AlertContext): string {
  const least = `(1 - ${factor} * ${Number((1 - settings.objective).toPrecision(6))})`;
  return `min by (protocol) (${protocolFreshness(long)}) < ${least}
and on (protocol)
  min by (protocol) (${protocolFreshness(short)}) < ${least}
and on (protocol)
  last_over_time(synclag:protocol_fresh:ratio[${time(oldest.span)}] offset ${time(oldest.offset)})`;
}

/** Leaves out each protocol that had no usable variant on a chain for a minute of the last half hour: another alert pages for it. */
function withoutPaged(vector: string, { time }: AlertContext): string {
  const down = `synclag_pair_state{state="down", testnet="false"}[${time("1m")}]`;
  return `(
${indented(vector)}
)
unless on (protocol)
  max by (protocol) (max_over_time(min_over_time(${down})[${time("30m")}:${time("1m")}])) == 1`;
}
