import { z } from "zod";
import { CronSchedule } from "./cron.ts";
import { expects } from "./messages.ts";
import { Duration } from "./quantities.ts";
import { section } from "./section.ts";

const INSTANT = expects("a time with its zone, such as 2026-12-01T10:00:00Z");
const Instant = z.iso.datetime({ offset: true, ...INSTANT });
const MatchName = z.string(expects("a name"));

const Match = section(
  {
    protocol: MatchName.optional(),
    variant: MatchName.optional(),
    tier: MatchName.optional(),
    chain: MatchName.optional(),
  },
  "a map with protocol, variant, tier or chain",
);

/** One maintenance window. */
export const MaintenanceEntry = section(
  {
    match: Match.describe("Which targets; an absent key matches all."),
    from: Instant.optional().describe("Start of a single window; needs `to`."),
    to: Instant.optional().describe("End of a single window."),
    schedule: CronSchedule.optional().describe("Start of a recurring window; needs `for`."),
    for: Duration.optional().describe("Length of a recurring window."),
  },
  "a map with match, and either from and to or schedule and for",
);

export type MaintenanceEntry = z.output<typeof MaintenanceEntry>;
