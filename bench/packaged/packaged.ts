import { setTimeout as sleep } from "node:timers/promises";
import type { Extent, Figure, Subject } from "../performance/subject.ts";
import { untilPhase } from "../programs/bursts.ts";
import { type PlayedFleet, playPackagedFleet } from "../programs/played-fleet.ts";
import { memoryFigures, sizingOf, unreadFigures, useFigures } from "./figures.ts";
import { pollsOf, startDaemon, startFloor, startProbes } from "./programs.ts";
import { PATHS, readText, startReaders } from "./readers.ts";
import { readProgram } from "./readings.ts";

const MINUTE_MS = 60_000;
const PARTS: Readonly<Record<Extent, { readonly count: number; readonly minutes: number }>> = {
  whole: { count: 5, minutes: 12 },
  quick: { count: 2, minutes: 1 },
};
/** In each minute: the polls of its first seconds are over, and those of second 45. */
const QUIET = 0.85;

/** Ten pairs: five chains, and on each two subgraphs that are compared with the multi-chain indexer. */
const PARITY = `
parity:
  - name: campaigns
    protocol: airdrops
    every: 10m
    chains: [arbitrum, base, ethereum, optimism, polygon]
    queries:
      multichain: { select: 'Campaign(where: {chainId: {_eq: "{chain_id}"}}, order_by: {subgraphId: desc}, limit: 1) { subgraphId }', value: Campaign.0.subgraphId }
      subgraph: { select: 'campaigns(orderBy: subgraphId, orderDirection: desc, first: 1) { subgraphId }', value: campaigns.0.subgraphId }
`;

/** One for each program. */
type Fleets = Readonly<Record<"synclag" | "floor" | "blackbox", PlayedFleet>>;

export const subject: Subject = {
  title: "The packaged fleet for an hour",
  about: `
A real \`synclag run\` of the packaged chains.yaml (100 endpoints and 29 RPC nodes, 2.1 polls a second) with everything on: state file, history, log, a parity probe of ten
pairs. \`/metrics\` is scraped every 15 s with gzip, the page is open (\`/\` every 5 s), and the plots of a chain's page (every 15 s). The simulator
replies in 20–400 ms from another process and keeps idle connections for 75 s, as nginx does. Beside it, at the same time, each with a copy of the simulated fleet:

- *Node, undici and fastify*: a process that sends the same requests at the same times, parses the replies, and serves the same texts to as many readers, that of \`/metrics\`
  compressed anew each time. It has no state, no metrics of its own, and no schedule but a timer.
- *blackbox_exporter*: Debian's package, asked for the same requests at the same times; it serves no readers and keeps no state. What Prometheus does with its results is not included.

*Without readers*: a minute more in which nobody scrapes or has a page open.

Counted from the second minute on, so without the start. *Written*: what the kernel attributes to the process as written to storage, in pages of 4 kB
(\`write_bytes\` of proc(5)). *Files opened*: calls of \`node:fs\` that open one. *Connections*: those that the simulator accepted.
*Heap used*: the least after a garbage collection.`,

  async measure(extent) {
    await using synclag = await playPackagedFleet(PARITY);
    await using floor = await playPackagedFleet(PARITY);
    await using blackbox = await playPackagedFleet(PARITY);
    return await measureBeside(extent, { synclag, floor, blackbox });
  },
};

async function measureBeside(extent: Extent, fleets: Fleets): Promise<readonly Figure[]> {
  await using synclag = await startDaemon(fleets.synclag);
  const polls = pollsOf(fleets.synclag);
  await using floor = await startFloor(fleets.floor, polls, await pagesOf(synclag.url));
  await using blackbox = await startProbes(fleets.blackbox, polls);
  await using readers = startReaders(synclag.url);
  await using floorReaders = startReaders(floor.url);
  const programs = [synclag, floor, blackbox];
  const { count, minutes } = PARTS[extent];
  await sleep(MINUTE_MS / 2);
  await untilPhase(MINUTE_MS, QUIET);
  const figures: Figure[] = [];
  let before = await Promise.all(programs.map(readProgram));
  for (let part = 0; part < count; part += 1) {
    await sleep((minutes - 0.5) * MINUTE_MS);
    await untilPhase(MINUTE_MS, QUIET);
    const after = await Promise.all(programs.map(readProgram));
    readers.assertServed();
    floorReaders.assertServed();
    figures.push(...useFigures(before, after));
    before = after;
  }
  await Promise.all([readers, floorReaders].map((all) => all[Symbol.asyncDispose]()));
  await untilPhase(MINUTE_MS, QUIET);
  const sizing = sizingOf(figures, before);
  const unread = unreadFigures(before, [await readProgram(synclag)]);
  // The goals are those of an hour.
  const all = [...sizing, ...figures, ...unread, ...memoryFigures(before)];
  return extent === "quick" ? all.map(({ atMost: _, ...figure }) => figure) : all;
}

/** By path without its query, as the floor's routes are. */
async function pagesOf(url: string): Promise<Readonly<Record<string, string>>> {
  const pages = await Promise.all(
    PATHS.map(async (path) => [path.split("?", 1)[0] ?? path, await readText(`${url}${path}`)] as const),
  );
  return Object.fromEntries(pages);
}
