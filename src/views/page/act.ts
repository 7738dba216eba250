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

/** The runbook of the alert that a status leads to; while a status is ok there is nothing to do. */
const RUNBOOKS: Readonly<Partial<Record<Status, string>>> = {
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
export interface Problem {
  /** Unique in its page. */
  readonly id: string;
  readonly runbook: string;
  /** The labels of its alerts, and what a maintenance window for it matches. */
  readonly matches: readonly MaintenanceMatch[];
  /** ISO 8601; null: not known. */
  readonly since: string | null;
}

/** A rejected key is a problem of the indexer, a halted chain one of the chain. Null if there is nothing to do. */
export function targetProblem(target: TargetReport, id: string): Problem | null {
  const { protocol, variant, tier, chain, since, status } = target;
  const runbook = RUNBOOKS[status];
  if (runbook === undefined) {
    return null;
  }
  const ofIndexer = { protocol, variant, tier };
  const match = status === "chain_halted" ? { chain } : { ...ofIndexer, chain };
  return { id, runbook, matches: [status === "rejected" ? ofIndexer : match], since };
}

/** The scope of an incident is its chain, or each of its indexers. A network incident cannot be silenced. */
export function incidentProblem({
  scope,
  since,
  subject,
  targets,
}: Pick<Incident, "scope" | "subject" | "since" | "targets">): Problem | null {
  const indexers = new Map(targets.map(idOfKey).map((indexer) => [indexerKey(indexer), indexer]));
  const matches = scope === "chain" ? [{ chain: subject }] : [...indexers.values()];
  return scope === "network"
    ? null
    : { id: `${scope}-${subject}`, runbook: "SynclagSharedCause", matches, since };
}

/** How to silence the alerts of a problem, mark it as maintenance and look at its dashboard: links, and lines to paste. */
export function renderAct(problem: Problem | null, links = NO_LINKS, nowMs: number): Html | null {
  if (problem === null) {
    return null;
  }
  const { id, runbook, matches, since } = problem;
  const { alertmanager, grafana, runbooks } = links;
  const urls = matches.map((match) => {
    const of = matches.length === 1 ? "" : ` of ${Object.values(match).join(" ")}`;
    return [
      alertmanager && renderLink(`New silence${of}`, silenceUrl(alertmanager, match)),
      grafana && renderLink(`Dashboard at that time${of}`, dashboardUrl(grafana, match, since, nowMs)),
    ];
  });
  return html`<details id="act-${id}"><summary>Act</summary>
<p class="meta"><a href="${runbooks ?? RUNBOOKS_PATH}/${runbook}.md">Runbook</a> ${urls}</p>
<p class="hint">Two hours without its alerts:</p>
${renderCommand(matches.map((match) => amtoolCommand(match, alertmanager)).join("\n"), `amtool command for ${id}`)}
<p class="hint">Two hours of maintenance, in chains.yaml:</p>
${renderCommand(maintenanceLines(matches, nowMs), `lines of chains.yaml for ${id}`)}</details>`;
}

/** The labels of a match, each as `write` says. */
function labelsOf(
  match: MaintenanceMatch,
  write: (name: string, value: string) => string,
): readonly string[] {
  return Object.entries<string>({ ...match }).map(([name, value]) => write(name, value));
}

function silenceUrl(alertmanager: string, match: MaintenanceMatch): string {
  const matchers = labelsOf(match, (label, value) => `${label}="${value}"`);
  return `${alertmanager}/#/silences/new?filter=${encodeURIComponent(`{${matchers.join(",")}}`)}`;
}

/** The dashboard that the alerts of the problem lead to. */
function dashboardUrl(grafana: string, match: MaintenanceMatch, since: string | null, nowMs: number): string {
  const board = match.chain === undefined ? "synclag-endpoint" : "synclag-chain";
  const fromMs = (since === null ? nowMs : Date.parse(since)) - BEFORE_MS;
  const variables = labelsOf(match, (name, value) => `var-${name}=${encodeURIComponent(value)}`);
  return `${grafana}/d/${board}?${variables.join("&")}&from=${fromMs}&to=${nowMs}`;
}

function amtoolCommand(match: MaintenanceMatch, alertmanager: string | null): string {
  const where = alertmanager === null ? "" : ` --alertmanager.url='${alertmanager}'`;
  const matchers = labelsOf(match, (label, value) => `${label}=${value}`).join(" ");
  return `amtool silence add${where} --duration=2h --comment='known problem' ${matchers}`;
}

/** Names are quoted: YAML would read `1` or `true` as something other than text. */
function maintenanceLines(matches: readonly MaintenanceMatch[], nowMs: number): string {
  const [from, to] = [nowMs, nowMs + SILENCE_MS].map((timeMs) => `${isoTime(timeMs).slice(0, 16)}:00Z`);
  const windows = matches.map((match) => {
    const names = labelsOf(match, (key, value) => `${key}: ${JSON.stringify(value)}`);
    return `  - match: { ${names.join(", ")} }\n    from: ${from}\n    to: ${to}`;
  });
  return ["maintenance:", ...windows].join("\n");
}
