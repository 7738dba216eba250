import { z } from "zod";
import { CronSchedule } from "./cron.ts";
import { Duration } from "./duration.ts";
import { expects } from "./messages.ts";
import { section } from "./section.ts";

const INSTANT = expects("a time with its zone, such as 2026-12-01T10:00:00Z");
const Instant = z.iso.datetime({ offset: true, ...INSTANT });
const Wanted = z.string(expects("a name"));

const Match = section(
  {
    protocol: Wanted.optional(),
    variant: Wanted.optional(),
    tier: Wanted.optional(),
    chain: Wanted.optional(),
  },
  "a map with protocol, variant, tier or chain",
);

/** One maintenance window, as chains.yaml tells it. */
export const MaintenanceEntry = section(
  {
    match: Match.describe("Which targets; a key that is left out matches all."),
    from: Instant.optional().describe("With `to`: once."),
    to: Instant.optional(),
    schedule: CronSchedule.optional().describe("With `for`: each time that this fires."),
    for: Duration.optional(),
  },
  "a map with match, and either from and to or schedule and for",
);

export type MaintenanceEntry = z.output<typeof MaintenanceEntry>;
