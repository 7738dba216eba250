import { indexerKey } from "../../core/model/fleet.ts";
import type { Links } from "../../core/model/links.ts";
import type { MaintenanceMatch } from "../../core/model/maintenance-window.ts";
import type { Incident, Status, TargetReport } from "../../core/model/report.ts";
import { isoTime } from "../../core/model/text.ts";
import { idOfKey } from "../wording/targets.ts";
import { type Html, html } from "./html.ts";
import { RUNBOOKS_PATH } from "./links.ts";
import { renderCommand, renderLink } from "./shell.ts";

/** A silence, and a maintenance window, are as long as it takes to look into a problem. */
const SILENCE_MS = 2 * 3_600_000;
/** A dashboard shows this much of the time before a problem began. */
const BEFORE_MS = 3_600_000;
const NO_LINKS: Links = { alertmanager: null, grafana: null, runbooks: null };

/** The runbook of the alert that a status leads to. */
const RUNBOOKS: Readonly<Record<Status, string | null>> = {
  ok: null,
  unknown: "SynclagTargetUnknown",
  rejected: "SynclagKeyRejected",
  throttled: "SynclagThrottled",
  not_found: "SynclagEndpointDown",
  unreachable: "SynclagEndpointDown",
  missing: "SynclagChainMissing",
  failed: "SynclagIndexerFailed",
  diverged: "SynclagIndexerDiverged",
  chain_halted: "SynclagChainHalted",
  stalled: "SynclagIndexerStalled",
  syncing: "SynclagIndexerSyncing",
  lagging: "SynclagIndexerLagging",
};

/** A problem that a person acts on. */
interface Problem {
  /** Unique in its page. */
  readonly id: string;
  readonly runbook: string | null;
  /** For maintenance windows. */
  readonly matches: readonly MaintenanceMatch[];
  /** The labels of its alerts. */
  readonly alerts: readonly MaintenanceMatch[];
  /** ISO 8601; null: not known. */
  readonly since: string | null;
}

/**
 * Alerts of a rejected key have the indexer's labels, alerts of a halted chain the chain's, all others the
 * target's.
 */
export function targetProblem(target: TargetReport, id: string): Problem {
  const { protocol, variant, tier, chain, since, status } = target;
  const match = { protocol, variant, tier, chain };
  const ofAlerts = status === "chain_halted" ? { chain } : match;
  return {
    id,
    runbook: RUNBOOKS[status],
    matches: [match],
    alerts: [status === "rejected" ? { protocol, variant, tier } : ofAlerts],
    since,
  };
}

/** The scope of an incident is its chain, or each of its indexers. A network incident cannot be silenced. */
export function incidentProblem(
  incident: Pick<Incident, "scope" | "subject" | "since" | "targets">,
): Problem {
  const { scope, since, subject, targets } = incident;
  const indexers = new Map(targets.map(idOfKey).map((indexer) => [indexerKey(indexer), indexer]));
  const matches = scope === "chain" ? [{ chain: subject }] : [...indexers.values()];
  const found = scope === "network" ? [] : matches;
  return { id: `${scope}-${subject}`, runbook: "SynclagSharedCause", matches: found, alerts: found, since };
}

/** How to silence the alerts of a problem, mark it as maintenance and look at its dashboard: links, and lines to paste. */
export function renderAct(
  { id, runbook, matches, alerts, since }: Problem,
  { alertmanager, grafana, runbooks } = NO_LINKS,
  nowMs: number,
): Html | null {
  const links = alerts.map((match) => {
    const of = alerts.length === 1 ? "" : ` of ${Object.values(match).join(" ")}`;
    return [
      alertmanager && renderLink(`New silence${of}`, silenceUrl(alertmanager, match)),
      grafana && renderLink(`Dashboard at that time${of}`, dashboardUrl(grafana, match, since, nowMs)),
    ];
  });
  const commands = alerts.map((match) => amtoolCommand(match, alertmanager)).join("\n");
  return matches.length === 0
    ? null
    : html`<details id="act-${id}"><summary>Act</summary>
<p class="meta">${runbook === null ? null : html`<a href="${runbooks ?? RUNBOOKS_PATH}/${runbook}.md">Runbook</a> `}${links}</p>
<p class="hint">Two hours without its alerts:</p>
${renderCommand(commands, `amtool command for ${id}`)}
<p class="hint">Two hours of maintenance, in chains.yaml:</p>
${renderCommand(maintenanceLines(matches, nowMs), `lines of chains.yaml for ${id}`)}</details>`;
}

function labelsOf(match: MaintenanceMatch): readonly (readonly [name: string, value: string])[] {
  return Object.entries<string>({ ...match });
}

function silenceUrl(alertmanager: string, match: MaintenanceMatch): string {
  const matchers = labelsOf(match).map(([label, value]) => `${label}="${value}"`);
  return `${alertmanager}/#/silences/new?filter=${encodeURIComponent(`{${matchers.join(",")}}`)}`;
}

/** The dashboard that the alerts of the problem lead to. */
function dashboardUrl(grafana: string, match: MaintenanceMatch, since: string | null, nowMs: number): string {
  const board = match.chain === undefined ? "synclag-endpoint" : "synclag-chain";
  const fromMs = (since === null ? nowMs : Date.parse(since)) - BEFORE_MS;
  const variables = labelsOf(match).map(([name, value]) => `var-${name}=${encodeURIComponent(value)}`);
  return `${grafana}/d/${board}?${variables.join("&")}&from=${fromMs}&to=${nowMs}`;
}

function amtoolCommand(match: MaintenanceMatch, alertmanager: string | null): string {
  const where = alertmanager === null ? "" : ` --alertmanager.url='${alertmanager}'`;
  const matchers = labelsOf(match).map(([label, value]) => `${label}=${value}`);
  return `amtool silence add${where} --duration=2h --comment='known problem' ${matchers.join(" ")}`;
}

/** Names are quoted: YAML would read `1` or `true` as something other than text. */
function maintenanceLines(matches: readonly MaintenanceMatch[], nowMs: number): string {
  const [from, to] = [nowMs, nowMs + SILENCE_MS].map((timeMs) => `${isoTime(timeMs).slice(0, 16)}:00Z`);
  return [
    "maintenance:",
    ...matches.flatMap((match) => {
      const names = labelsOf(match).map(([key, value]) => `${key}: ${JSON.stringify(value)}`);
      return [`  - match: { ${names.join(", ")} }`, `    from: ${from}`, `    to: ${to}`];
    }),
  ].join("\n");
}
