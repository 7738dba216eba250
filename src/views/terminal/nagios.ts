import type { Report } from "../../core/model/report.ts";
import { headline } from "../wording/headline.ts";
import { findProblems } from "../wording/targets.ts";
import type { CheckExitCode } from "./check.ts";

const STATES = ["OK", "WARNING", "CRITICAL", "UNKNOWN"] as const;

/** A status in one line, as monitoring plugins print it: `SYNCLAG OK: …`, then performance data behind a bar. */
export function renderNagiosLine(report: Report, exitCode: CheckExitCode): string {
  const { title, detail } = headline(report, findProblems(report));
  const sentence = [title, detail].filter((part) => part !== null).join("; ");
  const { targets } = report;
  const ok = targets.filter(({ status }) => status === "ok").length;
  const lags = targets.flatMap(({ lag_seconds: lag }) => lag ?? []);
  const performance = [
    `targets=${targets.length};;;0`,
    `ok=${ok};;;0;${targets.length}`,
    ...(lags.length === 0 ? [] : [`max_lag=${Math.max(...lags)}s;;;0`]),
  ];
  // A bar or a line break would end the sentence.
  return `SYNCLAG ${STATES[exitCode]}: ${sentence.replace(/[|\r\n]+/g, " ")} | ${performance.join(" ")}`;
}
