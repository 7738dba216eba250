import { targetName, variantName } from "../../core/model/fleet.ts";
import {
  type ChainSummary,
  isGone,
  type ParityReport,
  type Report,
  type Severity,
  sharedCauses,
  type TargetReport,
} from "../../core/model/report.ts";
import { formatClock, formatCount, formatDuration, formatNumber } from "../../core/model/text.ts";
import { differencesOf } from "../../core/report/pairs.ts";
import { judgeReport, needsAction } from "../../core/report/severity.ts";
import { describeFailover, incidentEffect, incidentSubject } from "./incidents.ts";
import { parityTitle } from "./parity.ts";
import {
  describeAlternatives,
  describeMaintenance,
  notableLagMs,
  SEVERITY_TONES,
  type TargetProblem,
  type Tone,
} from "./targets.ts";

/** The summary of a report. */
export interface Headline {
  readonly tone: Tone;
  /** About twelve words, to be read in two seconds. */
  readonly title: string;
  /** The extent and the failover; empty if the title says everything. */
  readonly detail: string;
  /** What else is wrong. */
  readonly others: readonly string[];
  /** How many targets, chains, comparisons and reloads need attention. */
  readonly urgent: number;
}

/** A fault as a title, with a detail that may be empty. */
interface Statement extends Pick<Headline, "title" | "detail"> {
  /** Whether the detail describes an incident. Views that list the incidents leave such a detail out. */
  readonly isOfIncident?: boolean;
}

/**
 * Summarizes the worst problem outside of maintenance: `2 of 140 targets need attention; worst: lockup subgraph on
 * Base, stalled`, with the detail `41 min behind; multichain is ok`. `severity`: how bad the selected part of the report is.
 */
export function headline(
  report: Report,
  problems: readonly TargetProblem[],
  severity = judgeReport(report).severity,
): Headline {
  return compose(report, problems, severity, ({ detail }) => detail);
}

/** The headline of a view that lists the incidents below it, without repeating them. */
export function headlineAbove(
  report: Report,
  problems: readonly TargetProblem[],
  severity = judgeReport(report).severity,
): Headline {
  return compose(report, problems, severity, ({ detail, isOfIncident }) =>
    isOfIncident === true ? "" : detail,
  );
}

function compose(
  report: Report,
  problems: readonly TargetProblem[],
  severity: Severity,
  detailOf: (statement: Statement) => string,
): Headline {
  const tone = SEVERITY_TONES[severity];
  const urgent = problems.filter((problem) => needsAction(problem.severity));
  const network = report.incidents.find(({ scope }) => scope === "network");
  if (network !== undefined) {
    return { tone, title: sentenceCase(network.detail), detail: "", others: [], urgent: urgent.length };
  }
  const differences = differencesOf(report);
  const disputed = disputedChains(report);
  const reload =
    report.reload_error === null
      ? null
      : { title: "The last reload failed: an earlier configuration is in use", detail: "" };
  const [first, ...others] = [
    describeUrgent(report, urgent),
    describeDisputes(report, disputed),
    describeDifferences(report, differences),
    reload,
  ].flatMap((one) => one ?? []);
  return first === undefined
    ? { tone, title: calmTitle(report, severity), detail: "", others: [], urgent: 0 }
    : {
        tone,
        title: first.title,
        detail: detailOf(first),
        others: others.map(({ title }) => title),
        urgent: urgent.length + disputed.length + differences.length + (reload === null ? 0 : 1),
      };
}

/** The chains whose sources contradict each other, except those whose targets are in maintenance. */
export function disputedChains({ chains, targets }: Report): readonly ChainSummary[] {
  return chains.filter(
    ({ dispute, slug }) =>
      dispute !== null && targets.some(({ chain, maintenance }) => chain === slug && !maintenance),
  );
}

function describeDisputes({ chains }: Report, [first, ...others]: readonly ChainSummary[]): Statement | null {
  if (first === undefined) {
    return null;
  }
  const more = others.length === 0 ? "" : ` and ${formatCount(others.length, "more chain")}`;
  const where = chains.length === 1 ? "" : ` of ${first.name}${more}`;
  return { title: `Sources${where} contradict each other`, detail: first.dispute ?? "" };
}

function describeDifferences(report: Report, [first, ...others]: readonly ParityReport[]): Statement | null {
  if (first === undefined) {
    return null;
  }
  const names = `${variantName(first)} and ${first.against} of ${parityTitle(first, report)}`;
  const more = others.length === 0 ? "" : ` and ${formatCount(others.length, "more comparison")}`;
  return { title: `Data differ: ${names}${more}`, detail: "" };
}

/** The shared cause that explains the most problems, if it explains two or more, else the worst target. */
function describeUrgent(report: Report, urgent: readonly TargetProblem[]): Statement | null {
  const [worst] = urgent;
  if (worst === undefined) {
    return null;
  }
  const [count, total] = [formatNumber(urgent.length), formatCount(report.targets.length, "target")];
  const needs = `${count} of ${total} ${urgent.length === 1 ? "needs" : "need"} attention`;
  const [widest] = sharedCauses(report.incidents)
    .map((incident) => {
      const keys = new Set(incident.targets);
      const explained = urgent.filter(({ target }) => keys.has(target.key));
      return { incident, explained: explained.length };
    })
    .sort((a, b) => b.explained - a.explained);
  if (widest !== undefined && widest.explained > 1) {
    const { incident, explained } = widest;
    const which = explained === urgent.length ? "all" : `${formatNumber(explained)} of them`;
    const failover = describeFailover(incident, urgent);
    const isOnly = incident.scope === "chain" && report.chains.length === 1;
    return {
      title: `${needs}, ${which} because of ${isOnly ? "the chain" : incidentSubject(incident)}`,
      detail: `${incidentEffect(incident)}${failover === "" ? "" : `; ${failover}`}`,
      isOfIncident: true,
    };
  }
  const { target } = worst;
  const name = `${targetName(target)}, ${target.status}`;
  const lagMs = notableLagMs(target);
  const lag = lagMs === null ? "" : `${formatDuration(lagMs)} behind; `;
  return {
    title: `${needs}${urgent.length === 1 ? ":" : "; worst:"} ${name}`,
    detail: `${lag}${describeAlternatives(worst)}`,
  };
}

/** The title if nothing is known to need action. */
function calmTitle({ generated_at, targets }: Report, severity: Severity): string {
  const total = formatCount(targets.length, "target");
  const count = (status: TargetReport["status"]) => targets.filter((one) => one.status === status).length;
  if (count("unknown") === targets.length && severity !== "calm") {
    return `No data yet: none of ${total} has replied`;
  }
  if (count("ok") === targets.length) {
    const all = targets.length === 1 ? "The only target is" : `All ${total} are`;
    const ended = targets.filter((one) => one.ended !== null).length;
    const past = ended === 0 ? "" : `, ${ended === targets.length ? "and" : formatNumber(ended)} ended`;
    return `${all} ok${describeLags(targets.filter((one) => one.ended === null))}${past}`;
  }
  const isPlanned = (one: TargetReport) => one.maintenance && one.status !== "ok" && !isGone(one);
  const planned = targets.filter(isPlanned);
  // Times in ISO 8601 sort as texts.
  const last = planned
    .toSorted((a, b) => (a.maintenance_until ?? "").localeCompare(b.maintenance_until ?? ""))
    .at(-1);
  const words = last && describeMaintenance(last, Date.parse(generated_at));
  const others = {
    "ended and gone": targets.filter(isGone),
    [words ?? "in maintenance"]: planned,
    syncing: targets.filter((one) => !one.maintenance && one.status === "syncing"),
    "without data": targets.filter((one) => !one.maintenance && one.status === "unknown"),
  };
  const rest = Object.entries(others).flatMap(([words, { length }]) =>
    length === 0 ? [] : `, ${formatNumber(length)} ${words}`,
  );
  // Unknown targets may need action.
  const calm = severity === "unknown" ? "" : "No action needed: ";
  return `${calm}${formatNumber(count("ok"))} of ${total} ok${rest.join("")}`;
}

/** The longest lag of targets that are ok, and how many lags are unknown. */
function describeLags(targets: readonly TargetReport[]): string {
  const lags = targets.flatMap((target) => notableLagMs(target) ?? []);
  const unknown = targets.filter(
    ({ lag_blocks, lag_seconds }) => lag_blocks === null && lag_seconds === null,
  );
  if (targets.length === 0) {
    return "";
  }
  const most = formatDuration(Math.max(0, ...lags));
  const late = most === formatDuration(0) ? ", at the head" : `, at most ${most} behind`;
  if (unknown.length === targets.length) {
    return ", with an unknown lag";
  }
  const rest = unknown.length === 0 ? "" : `, ${formatNumber(unknown.length)} with an unknown lag`;
  return `${lags.length === 0 ? "" : late}${rest}`;
}

/** The text with its first letter in upper case. The text must not begin with a name. */
export function sentenceCase(text: string): string {
  return `${text.slice(0, 1).toUpperCase()}${text.slice(1)}`;
}

/** When and why the last reload failed, in a sentence; null if it did not fail. */
export function describeReload({ generated_at, reload_error: error }: Report): string | null {
  return error === null
    ? null
    : `Reload failed at ${formatClock(Date.parse(error.time), Date.parse(generated_at))}: ${error.detail.replaceAll("\n", "; ")}`;
}

/** Which replica leads, in a sentence; null without a store. */
export function describeReplica({ replica }: Pick<Report, "replica">): string | null {
  if (replica === null) {
    return null;
  }
  const { role, name, leader, age_seconds: age } = replica;
  if (role === "cut_off") {
    return `Store unreachable: ${name} was the last leader and keeps polling.`;
  }
  const known =
    age === null ? "without a report yet" : `with a report from ${formatDuration(age * 1000)} ago`;
  return role === "leader"
    ? `${name} leads.`
    : `${leader ?? "No replica"} leads; ${name} is on standby, ${known}.`;
}
