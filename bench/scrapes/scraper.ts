import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { z } from "zod";

export const orderSchema = z.object({
  url: z.string(),
  coding: z.enum(["identity", "gzip"]),
  /** How many scrape at once. */
  scrapers: z.int(),
});

export type Order = z.infer<typeof orderSchema>;

/** Whoever scrapes, in a process of its own. */
export interface Scraper extends AsyncDisposable {
  /** One scrape of each, all at once: from the request until the whole answer is there. */
  readonly scrape: (order: Order) => Promise<readonly Scrape[]>;
}

const scrapesSchema = z.array(z.object({ tookMs: z.number(), bytes: z.int() }));

type Scrape = z.infer<typeof scrapesSchema>[number];

/** Starts it; it waits for orders. */
export function startScraper(): Scraper {
  const script = join(import.meta.dirname, "scraper-process.ts");
  const child = spawn(process.execPath, ["--import", "tsx", script], { stdio: ["pipe", "pipe", "inherit"] });
  const lines = createInterface(child.stdout);
  return {
    async scrape(order) {
      child.stdin.write(`${JSON.stringify(order)}\n`);
      const [line] = (await once(lines, "line")) as [string];
      return scrapesSchema.parse(JSON.parse(line));
    },
    async [Symbol.asyncDispose]() {
      child.stdin.end();
      await once(child, "exit");
    },
  };
}
