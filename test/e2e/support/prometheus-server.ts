import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { getJson } from "./loopback.ts";
import { type Server, startServer } from "./program.ts";

/** A real Prometheus. */
export interface PrometheusServer extends Server {
  /** The present value of an expression. Throws the error of Prometheus if it cannot evaluate it. */
  query(expression: string): Promise<readonly Series[]>;
}

/** One series of a reply, with its value now. */
interface Series {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
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

/** Starts Prometheus in a folder, to which file names in its configuration are relative, and waits until it is ready. */
export async function startPrometheus(folder: string, config: string): Promise<PrometheusServer> {
  const configFile = join(folder, "prometheus.yml");
  await writeFile(configFile, config);
  const args = [
    `--config.file=${configFile}`,
    `--storage.tsdb.path=${join(folder, "data")}`,
    "--web.listen-address=127.0.0.1:0",
    // Alerts that fired before Prometheus found Alertmanager are sent again.
    "--rules.alert.resend-delay=2s",
  ];
  const server = await startServer({ command: "prometheus", args }, LISTENING, "/-/ready");
  return {
    ...server,
    query: async (expression) => {
      const parameters = new URLSearchParams({ query: expression });
      const answer = await getJson(`${server.url}/api/v1/query?${parameters.toString()}`);
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
