import { variantName } from "../../core/model/fleet.ts";
import type { Report, TargetReport } from "../../core/model/report.ts";
import { formatCount, formatDuration, formatNumber } from "../../core/model/text.ts";
import { describeFailover, incidentEffect, incidentSubject } from "./incidents.ts";
import { parityProblem, parityTitle, problematicVariants, urgentDifferences } from "./parity.ts";
import { describeAlternatives, needsAction, notableLagMs, type TargetProblem, type Tone } from "./targets.ts";

/** The summary of a report. */
export interface Headline {
  readonly tone: Tone;
  /** About twelve words, to be read in two seconds. */
  readonly title: string;
  /** The extent and the failover; empty if the title says everything. */
  readonly detail: string;
  /** Whether the detail is that of an incident, which a view that lists the incidents need not repeat. */
  readonly isOfIncident?: boolean;
  /** How many targets need attention. */
  readonly urgent: number;
}

/**
 * Summarizes what matters most, leaving out what is in maintenance: `2 of 140 targets need attention; worst: lockup subgraph on
 * Base, stalled`, with the detail `41 min behind; multichain is ok`.
 */
export function headline(report: Report, problems: readonly TargetProblem[]): Headline {
  const urgent = problems.filter(({ target }) => needsAction(target) && !target.maintenance);
  const network = report.incidents.find(({ scope }) => scope === "network");
  if (network !== undefined) {
    return { tone: "bad", title: sentenceCase(network.detail), detail: "", urgent: urgent.length };
  }
  const [worst] = urgent;
  if (worst !== undefined) {
    const tone = urgent.some(({ pair }) => pair === "down") ? "bad" : "warn";
    return { ...describeUrgent(report, urgent, worst), tone, urgent: urgent.length };
  }
  const [different, ...others] = urgentDifferences(report);
  if (different !== undefined) {
    const names = `${problematicVariants(different)} of ${parityTitle(different, report)}`;
    const more = others.length === 0 ? "" : ` and ${formatCount(others.length, "more pair")}`;
    return {
      tone: "warn",
      title: `${parityProblem(different)}: ${names}${more}`,
      detail: "",
      urgent: others.length + 1,
    };
  }
  return { ...calm(report), detail: "", urgent: 0 };
}

/** The headline of a view that lists the incidents below it: what is said there is not said twice. */
export function headlineAbove(report: Report, problems: readonly TargetProblem[]): Headline {
  const { isOfIncident, ...rest } = headline(report, problems);
  return isOfIncident === true ? { ...rest, detail: "" } : rest;
}

/** The incident that explains most of the problems, if it explains two or more, else the worst target. */
function describeUrgent(report: Report, urgent: readonly TargetProblem[], worst: TargetProblem) {
  const [count, total] = [formatNumber(urgent.length), formatCount(report.targets.length, "target")];
  const needs = `${count} of ${total} ${urgent.length === 1 ? "needs" : "need"} attention`;
  const [widest] = report.incidents
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
    return {
      title: `${needs}, ${which} because of ${incidentSubject(incident)}`,
      detail: `${incidentEffect(incident)}${failover === "" ? "" : `; ${failover}`}`,
      isOfIncident: true,
    };
  }
  const { target, chain } = worst;
  // The chain is left out where there is only one.
  const where = report.chains.length === 1 ? "" : ` on ${chain.name}`;
  const name = `${target.protocol} ${variantName(target)}${where}, ${target.status.replace("_", " ")}`;
  const lagMs = notableLagMs(target);
  const lag = lagMs === null ? "" : `${formatDuration(lagMs)} behind; `;
  return {
    title: `${needs}${urgent.length === 1 ? ":" : "; worst:"} ${name}`,
    detail: `${lag}${describeAlternatives(worst)}`,
  };
}

function calm({ targets }: Report): Pick<Headline, "tone" | "title"> {
  const total = formatCount(targets.length, "target");
  const count = (status: TargetReport["status"]) => targets.filter((one) => one.status === status).length;
  if (count("unknown") === targets.length) {
    return { tone: "idle", title: `No data yet: none of ${total} has answered` };
  }
  if (count("ok") === targets.length) {
    const lags = targets.flatMap((target) => notableLagMs(target) ?? []);
    const most = formatDuration(Math.max(0, ...lags));
    const late = most === formatDuration(0) ? ", at the head" : `, at most ${most} behind`;
    const all = targets.length === 1 ? "The only target is" : `All ${total} are`;
    return { tone: "ok", title: `${all} ok${lags.length === 0 ? "" : late}` };
  }
  const planned = targets.filter((target) => target.maintenance && needsAction(target)).length;
  const others = { "in maintenance": planned, syncing: count("syncing"), "without data": count("unknown") };
  const rest = Object.entries(others).flatMap(([words, found]) =>
    found === 0 ? [] : `, ${formatNumber(found)} ${words}`,
  );
  return {
    tone: "busy",
    title: `No action needed: ${formatNumber(count("ok"))} of ${total} ok${rest.join("")}`,
  };
}

/** A text with its first letter in upper case. */
export function sentenceCase(text: string): string {
  return `${text.slice(0, 1).toUpperCase()}${text.slice(1)}`;
}

/** Which replica leads, in a sentence; null where there is only one process. */
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
