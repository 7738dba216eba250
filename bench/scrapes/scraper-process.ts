/**
 * Scrapes as Prometheus does, over connections that are kept, and reads all that comes without looking at it. Each line
 * of its standard input is an order, answered by a line. `tsx scraper-process.ts`.
 */
import { once } from "node:events";
import { Agent, get, type IncomingMessage } from "node:http";
import { createInterface } from "node:readline";
import { orderSchema } from "./scraper.ts";

const agent = new Agent({ keepAlive: true });

for await (const line of createInterface(process.stdin)) {
  const { url, coding, scrapers } = orderSchema.parse(JSON.parse(line));
  const scrapes = await Promise.all(Array.from({ length: scrapers }, () => scrape(url, coding)));
  process.stdout.write(`${JSON.stringify(scrapes)}\n`);
}
process.exit(0);

async function scrape(url: string, coding: string) {
  const startMs = performance.now();
  const request = get(url, { agent, headers: { "accept-encoding": coding } });
  const [response] = (await once(request, "response")) as [IncomingMessage];
  if (response.statusCode !== 200) {
    throw new Error(`Cannot scrape ${url}: ${response.statusCode}`);
  }
  let bytes = 0;
  for await (const chunk of response) {
    bytes += (chunk as Buffer).length;
  }
  return { tookMs: performance.now() - startMs, bytes };
}
