import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { vi } from "vitest";
import { z } from "zod";
import { getJson, getText } from "./loopback.ts";
import { type Program, printed, startProgram } from "./program.ts";

/** A real Prometheus. */
export interface PrometheusServer extends Program {
  readonly url: string;
  /** A query of one instant, unix seconds, by default of now. Throws what Prometheus says of an expression that it cannot evaluate. */
  query(expression: string, atSec?: number): Promise<readonly Series[]>;
}

/** One series of an answer, with its value now. */
interface Series {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

export interface PrometheusOptions {
  /** For its configuration and its data. */
  readonly folder: string;
  /** The text of prometheus.yml; file names in it are relative to the folder. */
  readonly config: string;
}

/** Where Prometheus and Alertmanager say the address that the system gave them. */
export const LISTENING = /msg="Listening on".* address=(\S+)/;

const vector = z.object({
  data: z.object({
    result: z.array(
      z.object({ metric: z.record(z.string(), z.string()), value: z.tuple([z.number(), z.string()]) }),
    ),
  }),
});
/** Starts Prometheus, and waits until it is ready. */
export async function startPrometheus(options: PrometheusOptions): Promise<PrometheusServer> {
  const configFile = join(options.folder, "prometheus.yml");
  await writeFile(configFile, options.config);
  const program = await startProgram({
    command: "prometheus",
    args: [
      `--config.file=${configFile}`,
      `--storage.tsdb.path=${join(options.folder, "data")}`,
      "--web.listen-address=127.0.0.1:0",
      // What fired before Alertmanager was found is sent again.
      "--rules.alert.resend-delay=2s",
    ],
  });
  const url = `http://${await printed(program, LISTENING)}`;
  await vi.waitFor(() => getText(`${url}/-/ready`), { timeout: 60_000, interval: 100 });

  return {
    ...program,
    url,
    query: async (expression, atSec) => {
      const parameters = new URLSearchParams({
        query: expression,
        ...(atSec === undefined ? {} : { time: String(atSec) }),
      });
      const answer = await getJson(`${url}/api/v1/query?${parameters.toString()}`);
      return vector.parse(answer).data.result.map(({ metric, value }) => ({
        labels: metric,
        value: Number(value[1]),
      }));
    },
  };
}

/** A configuration that scrapes one target, `host:port`, and evaluates the rules each second. */
export function eachSecond(target: string, ruleFiles: readonly string[]): string {
  // JSON is YAML.
  return JSON.stringify({
    global: { scrape_interval: "1s", evaluation_interval: "1s" },
    rule_files: ruleFiles,
    scrape_configs: [{ job_name: "synclag", static_configs: [{ targets: [target] }] }],
  });
}
