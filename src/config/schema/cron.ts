import { validateDetailed } from "node-cron";
import { z } from "zod";
import { neverFires } from "../../schedule/firing-times.ts";
import { describeValue, expects } from "./messages.ts";

const CRON = "six fields, seconds first, such as */15 * * * * *";

/** A node-cron expression of six fields that fires at least once. */
export const CronSchedule = z.string(expects(CRON)).superRefine((text, context) => {
  const flaw = flawOf(text);
  if (flaw !== null) {
    context.addIssue({ code: "custom", message: flaw });
  }
});

/** A node-cron expression, or `auto`: the fastest schedule that fits the budget. */
export const Schedule = z
  .string(expects(`auto, or ${CRON}`))
  .superRefine((text, context) => {
    const flaw = text === "auto" ? null : flawOf(text);
    if (flaw !== null) {
      context.addIssue({ code: "custom", message: flaw });
    }
  })
  .meta({ examples: ["auto", "*/15 * * * * *", "0 */30 * * * *"] });

function flawOf(text: string): string | null {
  const schedule = describeValue(text);
  const fields = text.trim().split(/\s+/);
  if (fields.length === 5) {
    return `Cannot use schedule ${schedule}: found five fields, expected ${CRON}; add the seconds: "0 ${fields.join(" ")}"`;
  }
  if (fields.length !== 6) {
    return `Cannot use schedule ${schedule}: expected auto, or ${CRON}`;
  }
  const { valid, errors } = validateDetailed(text);
  if (valid) {
    return neverFires(text) ? `Cannot use schedule ${schedule}: it never fires` : null;
  }
  const problem = errors[0]?.message ?? `expected ${CRON}`;
  // node-cron's word for a date such as February 31.
  const isNever = problem.includes("impossible");
  return `Cannot use schedule ${schedule}: ${isNever ? "it never fires" : problem.replace("is a invalid", "is not a valid")}`;
}
