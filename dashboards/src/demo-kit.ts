import { readFileSync } from "node:fs";
import { parse } from "yaml";
import type { AlertContext } from "./alert.ts";
import { renderAlertRules, renderRecordingRules, yamlFile } from "./prometheus-rules.ts";
import { seconds, shortened } from "./time-scale.ts";

/**
 * How much faster the alerts of the demo are than those of production. An incident of the tour lasts about a minute, which must
 * be longer than the `for` of every alert that pages.
 */
const FACTOR = 10;
const SCRAPE_EVERY = "5s";

const DEPLOY = new URL("../../deploy/", import.meta.url);

/** The files of deploy/demo by path: the rules and the examples of deploy/, with every duration divided by the factor. */
export function renderDemoKit({ settings }: AlertContext): ReadonlyMap<string, string> {
  const context: AlertContext = { settings, time: shortened(FACTOR) };
  return new Map([
    ["rules/synclag-alerts.yml", renderAlertRules(context)],
    ["rules/synclag-recording.yml", renderRecordingRules(context)],
    ["prometheus.yml", adapted("prometheus.yml")],
    ["alertmanager.yml", adapted("alertmanager.yml")],
  ]);
}

/** A file of deploy/ with its durations divided. */
function adapted(file: string): string {
  const content: unknown = parse(readFileSync(new URL(file, DEPLOY), "utf8"), adapt);
  return yamlFile(`deploy/${file} for the demo, ${FACTOR} times as fast.`, content);
}

/** The value for a key; undefined removes the key. Time intervals are removed, because a demo must work at any hour. */
function adapt(key: unknown, value: unknown): unknown {
  switch (key) {
    case "scrape_interval":
    case "evaluation_interval":
      return SCRAPE_EVERY;
    case "active_time_intervals":
    case "time_intervals":
      return undefined;
    case "group_wait":
    case "group_interval":
    case "repeat_interval":
      return `${Math.ceil(seconds(String(value)) / FACTOR)}s`;
    default:
      return value;
  }
}
