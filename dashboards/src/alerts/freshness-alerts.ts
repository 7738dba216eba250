import { type Alert, type AlertContext, type AlertGroup, BRIDGE } from "../alert.ts";
import { type FreshnessWindow, protocolFreshness } from "../freshness.ts";
import { label, PERCENTAGE, say } from "../text.ts";

const BURN_ALERT = {
  about: "fleet",
  keepFiringFor: BRIDGE,
  dashboard: { uid: "synclag-fleet", variables: ["protocol"] },
} as const;

/** How fast the error budget is used up: a factor of 1 uses exactly all of it in thirty days. */
interface Burn {
  readonly factor: number;
  readonly long: FreshnessWindow;
  /** Shows that it is still happening. */
  readonly short: FreshnessWindow;
  /** A sixth of the long window, and the other five. */
  readonly oldest: { readonly span: string; readonly offset: string };
}

/** 2 % of the error budget in an hour, or 5 % in six. */
const FAST: readonly Burn[] = [
  { factor: 14.4, long: "1h", short: "5m", oldest: { span: "10m", offset: "50m" } },
  { factor: 6, long: "6h", short: "30m", oldest: { span: "1h", offset: "5h" } },
];
/** 10 % in three days. */
const SLOW: readonly Burn[] = [
  { factor: 1, long: "3d", short: "6h", oldest: { span: "12h", offset: "60h" } },
];

/** The objective over thirty days, by burn rate: what adds up over chains and time without any other alert. */
export function freshnessAlerts(context: AlertContext): AlertGroup {
  const { settings } = context;
  const percent = `${Number((settings.objective * 100).toFixed(3))} %`;
  const text = (pace: string) => [
    ...say`Only ${PERCENTAGE} of the chain time of ${label("protocol")} was fresh. The objective is `,
    `${percent}. ${pace}`,
    " The dashboard shows which chains and variants are behind, by how much, and which variant is still fresh.",
  ];
  const fast: Alert = {
    ...BURN_ALERT,
    name: "SynclagFreshnessBurnsFast",
    severity: "critical",
    expr: FAST.map((burn) => burning(burn, context)).join("\nor\n"),
    for: "2m",
    summary: say`${label("protocol")}: the freshness objective is burning fast`,
    description: text("At this rate the error budget of thirty days is used up within days."),
  };
  const slow: Alert = {
    ...BURN_ALERT,
    name: "SynclagFreshnessBurnsSlowly",
    severity: "warning",
    expr: SLOW.map((burn) => burning(burn, context)).join("\nor\n"),
    for: "15m",
    summary: say`${label("protocol")}: the freshness objective is at risk`,
    description: text("At this rate the objective of thirty days will be missed."),
  };
  return { name: "synclag-freshness-objective", alerts: [fast, slow] };
}

/**
 * The freshness over the long window, where both it and the short one are below what the burn rate allows. It needs samples at the
 * beginning of the window: ten bad minutes are not a bad hour.
 */
function burning({ factor, long, short, oldest }: Burn, { settings, time }: AlertContext): string {
  const least = `(1 - ${factor} * ${Number((1 - settings.objective).toPrecision(6))})`;
  const record = "synclag:protocol_fresh:ratio";
  return `${protocolFreshness(long)} < ${least}
and on (protocol)
  ${protocolFreshness(short)} < ${least}
and on (protocol)
  last_over_time(${record}[${time(oldest.span)}] offset ${time(oldest.offset)})`;
}
