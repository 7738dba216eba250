import { packagedConfig, type Stage } from "./stage.ts";

/** The Synclags of the test. The last two are in maintenance, and see what befalls Synclag itself. */
export interface Stages {
  readonly fleet: Stage;
  readonly spare: Stage;
  readonly stuck: Stage;
}

/** One thing that goes wrong, and one alert that must come of it. */
export interface ScriptedFault {
  /** For the table of latencies. */
  readonly what: string;
  readonly alert: string;
  readonly severity: "critical" | "warning" | "info";
  readonly labels: Readonly<Record<string, string>>;
  readonly summary: string | RegExp;
  readonly description: RegExp;
  /** Whose /metrics shows it, and the beginning of that line; null where no single line does. */
  readonly on: keyof Stages;
  readonly line: string | null;
  /** Null: the fault before it has this consequence, too. */
  readonly inject: ((stages: Stages) => void | Promise<void>) | null;
}

const CHAIN_IDS = new Map(packagedConfig().fleet.chains.map(({ slug, id }) => [slug, id]));

/** The line of /metrics that says that a target has a status. */
export function statusLine(key: string, status: string): string {
  const [protocol = "", variant = "", tier = "", chain = ""] = key.split("/");
  const labels = { protocol, variant, tier, chain, chain_id: String(CHAIN_IDS.get(chain)), status };
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${value}"`);
  return `synclag_status{${pairs.join(",")}} 1`;
}
