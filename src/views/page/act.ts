import { indexerKey } from "../../core/model/fleet.ts";
import type { MaintenanceMatch } from "../../core/model/maintenance-window.ts";
import type { Incident, TargetReport } from "../../core/model/report.ts";
import { type Status, traitsOf } from "../../core/model/statuses.ts";
import { isoTime } from "../../core/model/text.ts";
import type { PairState } from "../../core/report/pairs.ts";
import { idOfKey } from "../wording/targets.ts";
import { type Html, html } from "./html.ts";
import { RUNBOOKS_PATH } from "./links.ts";
import { type PageOptions, renderCommand, renderLink } from "./shell.ts";

/** The length of a proposed silence or maintenance window: long enough to look into a problem. */
const SILENCE_MS = 2 * 3_600_000;
/** A placeholder for the address that amtool needs, if chains.yaml has no Alertmanager. */
const ANY_ALERTMANAGER = "http://ALERTMANAGER:9093";
/** A linked dashboard starts this long before the problem. */
const BEFORE_MS = 3_600_000;

/** A problem that a person acts on. */
interface Problem {
  /** Unique in its page. */
  readonly id: string;
  readonly runbook: string;
  /** The labels of its alerts, and the `match` of a maintenance window for it. */
  readonly matches: readonly MaintenanceMatch[];
  /** A pattern for the names of its alerts if other alerts have the same labels, else empty. */
  readonly alerts: string;
  /** ISO 8601; null: not known. */
  readonly since: string | null;
}

/** How to act on a target; null if there is nothing to do. `pair`: the state of its pair. */
export function renderTargetAct(
  target: TargetReport,
  { id, pair }: { readonly id: string; readonly pair: PairState },
  options: PageOptions,
  nowMs: number,
): Html | null {
  const { runbook } = traitsOf(target.status);
  const alerts = ALERTS_OF_SEVERAL[target.status] ?? "";
  const problem = { id, runbook, matches: [matchOf(target, pair)], alerts, since: target.since };
  return runbook === "" ? null : renderAct(problem, options, nowMs);
}

/**
 * The alerts that are about several targets, by the status of the targets. A silence names such an alert, because other alerts
 * have the same labels.
 */
const ALERTS_OF_SEVERAL: Readonly<Partial<Record<Status, string>>> = {
  chain_halted: "SynclagChainHalted",
  rejected: "SynclagKeyRejected",
};

/**
 * What the alert about a target names: the chain that halted, the indexer that rejects the key, the pair that is down, or the
 * target.
 */
function matchOf(
  { protocol, variant, tier, chain, status }: TargetReport,
  pair: PairState,
): MaintenanceMatch {
  switch (status) {
    case "chain_halted":
      return { chain };
    case "rejected":
      return { protocol, variant, tier };
    default:
      return pair === "down" ? { protocol, chain } : { protocol, variant, tier, chain };
  }
}

/**
 * The links and commands for an incident; they match its chain, or each of its indexers. Null for a pair, a target, or the network, which cannot be
 * silenced.
 */
export function renderIncidentAct(
  { scope, since, subject, targets }: Pick<Incident, "scope" | "subject" | "since" | "targets">,
  options: PageOptions,
  nowMs: number,
): Html | null {
  if (scope === "pair" || scope === "target") {
    return null;
  }
  const indexers = new Map(targets.map(idOfKey).map((indexer) => [indexerKey(indexer), indexer]));
  const matches = scope === "chain" ? [{ chain: subject }] : [...indexers.values()];
  const alerts = scope === "chain" ? "" : "SynclagSharedCause|SynclagKeyRejected";
  const problem = { id: `${scope}-${subject}`, runbook: "SynclagSharedCause", matches, alerts, since };
  return scope === "network" ? null : renderAct(problem, options, nowMs);
}

/** How to silence the alerts of a problem, mark it as maintenance and look at its dashboard: links, and lines to paste. */
function renderAct(
  { id, runbook, matches, alerts, since }: Problem,
  { links }: PageOptions,
  nowMs: number,
): Html {
  const { alertmanager, grafana, runbooks } = links;
  const fromMs = (since === null ? nowMs : Date.parse(since)) - BEFORE_MS;
  const urls = matches.map((match) => {
    const of = matches.length === 1 ? "" : ` of ${Object.values(match).join(" ")}`;
    const named = alerts === "" ? [] : [`alertname=~"${alerts}"`];
    const own = labelsOf(match, (name, value) => `${name}="${value}"`);
    const silence = encodeURIComponent(`{${[...named, ...own].join(",")}}`);
    // The dashboard that the alerts of the problem lead to.
    const board = match.chain === undefined ? "synclag-endpoint" : "synclag-chain";
    const variables = labelsOf(match, (name, value) => `var-${name}=${encodeURIComponent(value)}&`).join("");
    const dashboard = `${grafana}/d/${board}?${variables}from=${fromMs}&to=${nowMs}`;
    return [
      alertmanager && renderLink(`New silence${of}`, `${alertmanager}/#/silences/new?filter=${silence}`),
      grafana && renderLink(`Dashboard at that time${of}`, dashboard),
    ];
  });
  const where = ` --alertmanager.url='${alertmanager ?? ANY_ALERTMANAGER}'`;
  const commands = matches.map((match) => {
    const named = alerts === "" ? [] : [`'alertname=~${alerts}'`];
    const matchers = [...named, ...labelsOf(match, (name, value) => `${name}=${value}`)].join(" ");
    return `amtool silence add${where} --duration=2h --comment='known problem' ${matchers}`;
  });
  return html`<details id="act-${id}"><summary>What to do</summary>
<p class="meta"><a href="${runbooks ?? RUNBOOKS_PATH}/${runbook}.md">Runbook</a> ${urls}</p>
<p class="hint">Silence its alerts for two hours:</p>
${renderCommand(commands.join("\n"), `amtool command for ${id}`)}
<p class="hint">Or add two hours of maintenance to chains.yaml:</p>
${renderCommand(maintenanceLines(matches, nowMs), `lines of chains.yaml for ${id}`)}</details>`;
}

/** The labels of a match, each written by `write`. */
function labelsOf(match: MaintenanceMatch, write: (name: string, value: string) => string) {
  return Object.entries<string>({ ...match }).map(([name, value]) => write(name, value));
}

/** Names are quoted: YAML would read `1` or `true` as something other than text. */
function maintenanceLines(matches: readonly MaintenanceMatch[], nowMs: number): string {
  const [from, to] = [nowMs, nowMs + SILENCE_MS].map((timeMs) => `${isoTime(timeMs).slice(0, 16)}:00Z`);
  const windows = matches.map((match) => {
    const names = labelsOf(match, (name, value) => `${name}: ${JSON.stringify(value)}`).join(", ");
    return `  - match: { ${names} }\n    from: ${from}\n    to: ${to}`;
  });
  return ["maintenance:", ...windows].join("\n");
}
