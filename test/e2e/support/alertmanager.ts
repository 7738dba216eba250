import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { z } from "zod";
import { serve } from "../../support/listener.ts";
import { type Server, startServer } from "./program.ts";
import { LISTENING } from "./prometheus-server.ts";
import { undoLater } from "./undo.ts";

/** A real Alertmanager, and the pager that it calls. */
export interface Alertmanager extends Server {
  /** Every alert that reached the pager, oldest first. */
  pages(): readonly Page[];
}

/** One alert as a receiver got it. */
export type Page = z.infer<typeof pageSchema> & {
  /** Path of the webhook, such as `/page`. */
  readonly path: string;
  /** Counts the messages: alerts of one message have the same number. */
  readonly message: number;
};

const pageSchema = z.object({
  status: z.enum(["firing", "resolved"]),
  labels: z.record(z.string(), z.string()),
  annotations: z.record(z.string(), z.string()),
});
const notification = z.object({ alerts: z.array(pageSchema) });

/** Starts Alertmanager on a configuration of deploy/ whose receivers are on loopback instead, and waits until it is ready. */
export async function startAlertmanager(folder: string, config: string): Promise<Alertmanager> {
  const received: Page[] = [];
  let message = 0;
  const pager = await serve((request, response) => {
    void text(request).then(
      (body) => {
        const { alerts } = notification.parse(JSON.parse(body));
        message += 1;
        received.push(...alerts.map((alert) => ({ ...alert, path: request.url ?? "", message })));
        response.end();
      },
      () => undefined, // Alertmanager was ended while it spoke.
    );
  });
  undoLater(() => pager[Symbol.asyncDispose]());

  const configFile = join(folder, "alertmanager.yml");
  await writeFile(configFile, config.replaceAll("pager:9911", `127.0.0.1:${pager.port}`));
  const args = [
    `--config.file=${configFile}`,
    `--storage.path=${join(folder, "alertmanager")}`,
    ...["--web.listen-address=127.0.0.1:0", "--cluster.listen-address="],
  ];
  const server = await startServer({ command: "prometheus-alertmanager", args }, LISTENING, "/-/ready");
  return { ...server, pages: () => received };
}
