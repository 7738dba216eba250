import { validateDetailed } from "node-cron";
import { z } from "zod";
import { neverFires } from "../../schedule/firing-times.ts";
import { expects, show } from "./messages.ts";

const CRON = "six fields, seconds first, such as */15 * * * * *";

/** A node-cron expression of six fields that fires now and then. */
export const CronSchedule = z.string(expects(CRON)).superRefine((text, context) => {
  const objection = objectionTo(text);
  if (objection !== null) {
    context.addIssue({ code: "custom", message: objection });
  }
});

/** A node-cron expression, or `auto`: the fastest cadence that fits the budget. */
export const Schedule = z
  .string(expects(`auto, or ${CRON}`))
  .superRefine((text, context) => {
    const objection = text === "auto" ? null : objectionTo(text);
    if (objection !== null) {
      context.addIssue({ code: "custom", message: objection });
    }
  })
  .meta({ examples: ["auto", "*/15 * * * * *", "0 */30 * * * *"] });

function objectionTo(text: string): string | null {
  const schedule = show(text);
  const fields = text.trim().split(/\s+/);
  if (fields.length === 5) {
    return `Cannot use schedule ${schedule}: found five fields, expected ${CRON}; with its seconds it is "0 ${fields.join(" ")}"`;
  }
  if (fields.length !== 6) {
    return `Cannot use schedule ${schedule}: expected auto, or ${CRON}`;
  }
  const { valid, errors } = validateDetailed(text);
  if (valid) {
    return neverFires(text) ? `Cannot use schedule ${schedule}: it never fires` : null;
  }
  const problem = errors[0]?.message ?? `expected ${CRON}`;
  // What node-cron says of the 31st of February.
  const isNever = problem.includes("impossible");
  return `Cannot use schedule ${schedule}: ${isNever ? "it never fires" : problem.replace("a invalid", "no valid")}`;
}
