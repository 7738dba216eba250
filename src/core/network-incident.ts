import type { Endpoint } from "./fleet.ts";
import type { FailureReason } from "./observation.ts";
import type { TargetReport } from "./report.ts";

/** Reasons that a broken network of our own, or a proxy in it, gives. Any other is an answer from the far end. */
const UNREACHED: ReadonlySet<FailureReason> = new Set([
  "timeout",
  "dns",
  "connect",
  "tls",
  "http_status",
  "malformed",
]);
/** Nothing may have been reached for at least so long, and for two polls of the one that is asked most often. */
const SILENCE_MS = 45_000;
const SILENT_POLLS = 2;

/** How long nothing must have been reached before our own network is blamed. */
export function silenceMs(reports: readonly TargetReport[]): number {
  const shortest = Math.min(...reports.map(({ target }) => target.pollIntervalMs));
  return Number.isFinite(shortest) ? Math.max(SILENCE_MS, SILENT_POLLS * shortest) : SILENCE_MS;
}

/**
 * Whether nothing at all can be reached: every host fails, of two or more, and nobody anywhere has answered of
 * late. A host that is asked rarely counts by its last poll; one that our own budget keeps us from asking says nothing.
 */
export function nothingIsReached(
  reports: readonly TargetReport[],
  endpoints: readonly Endpoint[],
  nowMs: number,
): boolean {
  const newestMs = Math.max(...reports.map(({ lastSuccessMs }) => lastSuccessMs ?? Number.NEGATIVE_INFINITY));
  if (nowMs - newestMs < silenceMs(reports) || reports.some(answers)) {
    return false;
  }
  const hosts = hostsOf(reports, endpoints).filter((targets) => !targets.every(isUnasked));
  return hosts.length > 1 && hosts.every((targets) => targets.some(isUnreached));
}

function hostsOf(
  reports: readonly TargetReport[],
  endpoints: readonly Endpoint[],
): readonly (readonly TargetReport[])[] {
  const byKey = new Map(reports.map((report) => [report.target.key, report]));
  const hosts = new Map<string, TargetReport[]>();
  for (const { host, targets } of endpoints) {
    const members = hosts.get(host) ?? [];
    members.push(...targets.map(({ key }) => byKey.get(key)).filter((report) => report !== undefined));
    hosts.set(host, members);
  }
  return [...hosts.values()].filter((members) => members.length > 0);
}

function isUnreached({ reason }: TargetReport): boolean {
  return reason !== null && UNREACHED.has(reason);
}

function isUnasked({ reason }: TargetReport): boolean {
  return reason === "budget";
}

/** A refusal is an answer, too. */
function answers({ reason }: TargetReport): boolean {
  return reason !== null && reason !== "budget" && !UNREACHED.has(reason);
}
