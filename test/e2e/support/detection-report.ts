import { writeFile } from "node:fs/promises";
import { allAlerts } from "../../../dashboards/src/alerts/all-alerts.ts";
import { SETTINGS } from "../../../dashboards/src/settings.ts";
import { realTime } from "../../../dashboards/src/time-scale.ts";
import type { Detection } from "./detection.ts";
import type { ScriptedFault } from "./scripted-fault.ts";

/** How one fault was found. */
export interface DetectionRow {
  readonly fault: ScriptedFault;
  readonly detection: Detection;
  readonly sinceMs: number;
}

const FILE = new URL("../../../docs/DETECTION.md", import.meta.url);
const COMMAND = "SYNCLAG_WRITE_DETECTION=1 npx vitest run test/e2e/alerts.test.ts";

/** Prints the table of latencies, and writes it to docs/DETECTION.md where the command asks for it. */
export async function writeDetection(
  rows: readonly DetectionRow[],
  about: { readonly lookMs: number; readonly scale: number },
): Promise<void> {
  const table = renderTable(rows);
  console.log(table);
  if (process.env["SYNCLAG_WRITE_DETECTION"] !== undefined) {
    await writeFile(FILE, renderPage(table, about));
  }
}

function renderTable(rows: readonly DetectionRow[]): string {
  const lines = rows.map(({ fault, detection, sinceMs }) => {
    const after = (atMs: number | null): string =>
      atMs === null ? "–" : (Math.max(0, atMs - sinceMs) / 1_000).toFixed(1);
    const { metricAtMs, pendingAtMs, firingAtMs, deliveredAtMs } = detection;
    const times = [metricAtMs, pendingAtMs, firingAtMs, deliveredAtMs].map(after);
    return `| ${[fault.what, `${fault.alert}, ${fault.severity}`, ...times, patienceOf(fault)].join(" | ")} |`;
  });
  return [
    "| fault | alert | → metric | → pending | → firing | → delivered | `for` in production |",
    "|---|---|--:|--:|--:|--:|--:|",
    ...lines,
  ].join("\n");
}

function patienceOf({ alert, severity }: ScriptedFault): string {
  const alerts = allAlerts({ settings: SETTINGS, time: realTime }).flatMap((group) => group.alerts);
  return alerts.find((rule) => rule.name === alert && rule.severity === severity)?.for ?? "0s";
}

function renderPage(
  table: string,
  { lookMs, scale }: { readonly lookMs: number; readonly scale: number },
): string {
  return `# How soon a fault is detected

Seconds from the injection of a fault to each stage of its alert, measured with a real Prometheus and a real Alertmanager using
the files of dashboards/ and deploy/, with all faults at once. The rules are rendered from the same source with all durations
divided by ${scale}: an hour is two minutes, a \`for\` of two minutes four seconds. The thresholds of chains.yaml are divided likewise (\`lagging\` 20 s,
\`critical\` 60 s, \`stalled\` 20 s or 50 blocks), every endpoint is polled every two seconds, and Prometheus scrapes and evaluates every second.
*metric* and *firing* are sampled every half second (95 % of the samples took ${lookMs} ms or less).

\`\`\`sh
${COMMAND}
\`\`\`

${table}

*metric*: the daemon's own /metrics shows it. *pending*: the expression of the rule holds. *firing*: it has held for its \`for\`.
*delivered*: a webhook behind Alertmanager has received it. A row that begins with "…" is a further
consequence of the fault above it, and its times count from that.

## In production

| stage | takes |
|---|---|
| fault → metric | the time the fault itself needs (\`stalled\` 10 min or 50 blocks, \`lagging\` 10 min …), and two polls that agree; three for a timeout. \`synclag plan\` shows each endpoint's cadence and how soon a fault is detected: half a minute at 15 s, up to an hour for a gateway whose budget allows two polls an hour |
| metric → pending | at most one scrape and one evaluation: 30 s at 15 s each |
| pending → firing | the \`for\` of the last column |
| firing → delivered | \`group_wait\` of deploy/alertmanager.yml: 10 s for a page, 30 s for a ticket, which waits for working hours |
`;
}
