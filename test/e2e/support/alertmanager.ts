import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { vi } from "vitest";
import { z } from "zod";
import { freePort } from "./free-port.ts";
import { getText } from "./loopback.ts";
import { runProgram, startProgram } from "./program.ts";
import { undoLater } from "./undo.ts";

/** A real Alertmanager, and the pager that it calls. */
export interface Alertmanager {
  /** `host:port`. */
  readonly address: string;
  /** Every alert that reached the pager, oldest first. */
  pages(): readonly Page[];
}

/** One alert as a receiver got it. */
export type Page = z.infer<typeof pageSchema> & {
  /** Path of the webhook, such as `/page`. */
  readonly path: string;
  readonly receivedAtMs: number;
};

const pageSchema = z.object({
  status: z.enum(["firing", "resolved"]),
  labels: z.record(z.string(), z.string()),
  annotations: z.record(z.string(), z.string()),
});
const notification = z.object({ alerts: z.array(pageSchema) });

/**
 * Starts Alertmanager with a webhook on loopback, and waits until it is ready. `configure` gives its configuration,
 * whose webhooks are at that port.
 */
export async function startAlertmanager(
  folder: string,
  configure: (pagerPort: number) => string = configuration,
): Promise<Alertmanager> {
  const received: Page[] = [];
  const pager = createServer((request, response) => {
    void text(request).then(
      (body) => {
        const { alerts } = notification.parse(JSON.parse(body));
        const path = request.url ?? "";
        received.push(...alerts.map((alert) => ({ ...alert, path, receivedAtMs: Date.now() })));
        response.end();
      },
      () => undefined, // Alertmanager was ended while it spoke.
    );
  });
  const pagerPort = await freePort();
  pager.listen(pagerPort, "127.0.0.1");
  await once(pager, "listening");
  undoLater(() => pager.close());

  const configFile = join(folder, "alertmanager.yml");
  await writeFile(configFile, configure(pagerPort));
  const checked = await runProgram({ command: "amtool", args: ["check-config", configFile] });
  if (checked.code !== 0) {
    throw new Error(`Cannot configure Alertmanager: ${checked.stdout}${checked.stderr}`);
  }

  const address = `127.0.0.1:${await freePort()}`;
  await startProgram({
    command: "prometheus-alertmanager",
    args: [
      `--config.file=${configFile}`,
      `--storage.path=${join(folder, "alertmanager")}`,
      `--web.listen-address=${address}`,
      "--cluster.listen-address=",
    ],
  });
  await vi.waitFor(() => getText(`http://${address}/-/ready`), { timeout: 60_000, interval: 100 });
  return { address, pages: () => received };
}

function configuration(pagerPort: number): string {
  return JSON.stringify({
    route: { receiver: "pager", group_by: ["alertname"], group_wait: "1s", group_interval: "1s" },
    receivers: [
      { name: "pager", webhook_configs: [{ url: `http://127.0.0.1:${pagerPort}/`, send_resolved: true }] },
    ],
  });
}
