import { readFileSync } from "node:fs";
import { isScalar, type Pair, parseDocument, visit } from "yaml";
import type { AlertContext } from "./alert.ts";
import { renderAlertRules, renderRecordingRules } from "./prometheus-rules.ts";
import { durationMs, shortened } from "./time-scale.ts";

/**
 * How much faster than in production the alerts of the demo are. An incident of the tour lasts about a minute, which is then as long
 * as ten minutes in production: enough for the `for` of every alert that pages.
 */
const FACTOR = 10;
const SCRAPE_EVERY = "5s";

const DEPLOY = new URL("../../deploy/", import.meta.url);

/** The files of deploy/demo by name: the rules and the examples of deploy/ with every duration divided by the factor. */
export function renderDemoKit({ settings }: AlertContext): ReadonlyMap<string, string> {
  const context: AlertContext = { settings, time: shortened(FACTOR) };
  return new Map([
    ["rules/synclag-alerts.yml", renderAlertRules(context)],
    ["rules/synclag-recording.yml", renderRecordingRules(context)],
    ["prometheus.yml", adapted("prometheus.yml", adaptPrometheus)],
    ["alertmanager.yml", adapted("alertmanager.yml", adaptAlertmanager)],
  ]);
}

/** A file of deploy/ without comments, with each pair passed to `adapt`, which may change or remove it. */
function adapted(file: string, adapt: (key: string, pair: Pair) => typeof visit.REMOVE | undefined): string {
  const document = parseDocument(readFileSync(new URL(file, DEPLOY), "utf8"));
  visit(document, {
    Pair: (_, pair) => (isScalar(pair.key) ? adapt(String(pair.key.value), pair) : undefined),
    Node: (_, node) => {
      node.comment = null;
      node.commentBefore = null;
    },
  });
  document.commentBefore = ` deploy/${file} for the demo, ${FACTOR} times as fast.\n Generated from it by \`npm run generate\`: do not edit.`;
  return document.toString({ lineWidth: 0 });
}

function adaptPrometheus(key: string, pair: Pair): undefined {
  if (key === "scrape_interval" || key === "evaluation_interval") {
    setText(pair, SCRAPE_EVERY);
  }
}

/** Without time intervals: a demo must work at any hour. */
function adaptAlertmanager(key: string, pair: Pair): typeof visit.REMOVE | undefined {
  switch (key) {
    case "active_time_intervals":
    case "time_intervals":
      return visit.REMOVE;
    case "group_wait":
    case "group_interval":
    case "repeat_interval":
      setText(pair, sooner(pair));
      return undefined;
    default:
      return undefined;
  }
}

function sooner({ value }: Pair): string {
  const seconds = durationMs(isScalar(value) ? String(value.value) : "") / 1_000 / FACTOR;
  return `${Math.ceil(seconds)}s`;
}

function setText({ value }: Pair, text: string): void {
  if (isScalar(value)) {
    value.value = text;
  }
}
