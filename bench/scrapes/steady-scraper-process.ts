/**
 * Scrapes plainly at even times, whether or not those before have been answered: `tsx steady-scraper-process.ts URL EVERY_MS
 * COUNT`. Prints as JSON how many milliseconds each took, from the request to the last byte.
 */
import { Agent, get } from "node:http";

const [url = "", ...numbers] = process.argv.slice(2);
const [everyMs = 0, count = 0] = numbers.map(Number);
/** Fewer than the daemon accepts; a scrape that has none waits, and the wait counts. */
const CONNECTIONS = 50;
const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS });
const beganMs = performance.now();
const scrapes: Promise<number>[] = [];
for (let index = 0; index < count; index += 1) {
  const waitMs = beganMs + index * everyMs - performance.now();
  await new Promise((resolve) => {
    setTimeout(resolve, waitMs);
  });
  scrapes.push(scrape());
}
process.stdout.write(`${JSON.stringify(await Promise.all(scrapes))}\n`);
process.exit(0);

async function scrape(): Promise<number> {
  const startedMs = performance.now();
  return await new Promise((resolve, reject) => {
    const request = get(url, { agent, headers: { "accept-encoding": "identity" } }, (response) => {
      if (response.statusCode !== 200) {
        reject(new Error(`Cannot scrape ${url}: ${response.statusCode}`));
      }
      response.resume();
      response.on("end", () => resolve(performance.now() - startedMs));
      response.on("error", reject);
    });
    request.on("error", reject);
  });
}
