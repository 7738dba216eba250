import type { Report } from "../../core/model/report.ts";
import { formatDuration } from "../../core/model/text.ts";

/** Which replica leads, in a sentence; null where there is only one process. */
export function describeReplica({ replica }: Pick<Report, "replica">): string | null {
  if (replica === null) {
    return null;
  }
  const { role, name, leader, age_seconds: ageSeconds } = replica;
  const age = ageSeconds === null ? null : formatDuration(ageSeconds * 1000);
  switch (role) {
    case "leader":
      return `${name} leads.`;
    case "cut_off":
      return `The store is away: ${name} led last, and polls on.`;
    default:
      return age === null
        ? `${leader ?? "No replica"} leads; ${name} has no report of a leader yet.`
        : `${leader ?? "No replica"} leads; ${name} stands by, with a report of ${age} ago.`;
  }
}
