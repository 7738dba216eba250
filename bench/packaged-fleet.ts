/**
 * CPU and memory of the packaged fleet over time: `npm run build && npx tsx bench/packaged-fleet.ts [MINUTES]`, 60 by
 * default. The command as users start it polls the simulator, which runs in another process, on the schedules of
 * chains.yaml, without a state file at the start, and is scraped every 15 s.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { markdownTable } from "./accuracy/figures.ts";
import { playPackagedFleet } from "./performance/played-fleet.ts";
import { startSynclag } from "./performance/running-synclag.ts";

const MINUTE_MS = 60_000;
const SCRAPE_MS = 15_000;
const ROWS = 12;

const minutes = Number(process.argv[2] ?? 60);

await using fleet = await playPackagedFleet();
await fleet.forgetState();
await using synclag = await startSynclag(fleet);
await synclag.untilReady();

const rows: { readonly minute: number; readonly rssMb: number; readonly cpuSec: number }[] = [];
const beganMs = Date.now();
for (let row = 0; row <= ROWS; row += 1) {
  const untilMs = beganMs + (row / ROWS) * minutes * MINUTE_MS;
  while (Date.now() < untilMs) {
    await sleep(Math.min(SCRAPE_MS, untilMs - Date.now()));
    await (await fetch(`${synclag.url}/metrics`)).arrayBuffer();
  }
  const [rssMb, cpuMs] = await Promise.all([synclag.process.rssMb(), synclag.process.cpuMs()]);
  rows.push({
    minute: Math.round((Date.now() - beganMs) / MINUTE_MS),
    rssMb: Math.round(rssMb),
    cpuSec: Math.round(cpuMs / 1_000),
  });
}
console.log(markdownTable(rows));
