import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { percentile } from "../../test/worlds/figures.ts";
import type { Extent, Figure, Subject } from "../performance/subject.ts";
import { measureHangingFleet } from "./hanging-fleet.ts";
import { serveOurs, servePromClient, type Way } from "./scrape-ways.ts";
import { sourceOf } from "./scraped-source.ts";
import { type Order, type Scraper, startScraper } from "./scraper.ts";
import { measureScrapesWhilePolling } from "./scrapes-while-polling.ts";
import { watchTurns } from "./turn-watch.ts";

const GOAL_SERIES = 100_000;
const WARM_UPS = 3;
const MOST_BLOCKED_MS = 10;
/** What Prometheus asks for comes first. */
const CODINGS = ["gzip", "identity"] as const;

setFlagsFromString("--expose-gc");
// The flag adds `gc` to every context that is made from now on.
const collectGarbage = runInNewContext("gc") as () => void;

interface Cost {
  readonly tookMs: number;
  readonly cpuMs: number;
  readonly blockedMs: number;
  readonly bytes: number;
}

export const subject: Subject = {
  title: "Scrapes of `/metrics`",
  about: `
A scraper in a separate process reads whole responses over keep-alive connections. Times are from the
request to the last byte, medians of a run's scrapes; CPU is that of all threads of the server's process for one scrape;
"blocked" is the longest time in a run during which the server's event loop did not turn. Each scrape of Synclag is of a new report: a second one of the same report is served from a cache.

It is compared with prom-client's own \`registry.metrics()\` for the same series in the same process, behind a bare HTTP server: "held", with all series already
set, and "given", with all series set again for each scrape, so that removed series disappear. Both are gzipped at the same level. Synclag's responses also contain some 20 process metrics.

Ten at once: the real program and ten scrapers that ask at the same instant every 1.2 s, with gzip, while all polls hang.
The first row has as many targets as the packaged chains.yaml.

While endpoints are polled: the real program with a full day's history, and a scraper that asks for the plain text every 40 ms, whether or not it has got what it asked for before.
`,
  async measure(extent) {
    await using scraper = startScraper();
    const figures: Figure[] = [];
    for (const series of extent === "whole" ? [1_000, 10_000, GOAL_SERIES] : [1_000, GOAL_SERIES]) {
      figures.push(...(await measureSize(scraper, series, extent)));
    }
    figures.push(...(await measureHangingFleet(scraper, extent)));
    figures.push(...(await measureScrapesWhilePolling(extent)));
    return figures;
  },
};

async function measureSize(scraper: Scraper, series: number, extent: Extent): Promise<readonly Figure[]> {
  const source = sourceOf(series);
  const times = extent === "whole" ? 5 : 3;
  const figures: Figure[] = [];
  for (const coding of extent === "whole" ? CODINGS : CODINGS.slice(0, 1)) {
    const ask = async (way: Way): Promise<Cost> => {
      await using served = way;
      return await cost(scraper, { url: served.url, coding, scrapers: 1 }, times);
    };
    const row = `${series.toLocaleString("en-US")} series, ${coding === "gzip" ? "gzip" : "plain"}`;
    const costs = {
      ours: await ask(await serveOurs(source)),
      held: await ask(await servePromClient(source, "held")),
      given: await ask(await servePromClient(source, "given")),
    };
    figures.push(...figuresOf(row, costs).map(series === GOAL_SERIES ? withGoal : (figure) => figure));
  }
  return figures;
}

async function cost(scraper: Scraper, order: Order, times: number): Promise<Cost> {
  for (let time = 0; time < WARM_UPS; time += 1) {
    await scraper.scrape(order);
  }
  // What those before left behind is not to be paid for by this one.
  collectGarbage();
  const cpuBefore = process.cpuUsage();
  const scrapes = [];
  for (let time = 0; time < times; time += 1) {
    scrapes.push(...(await scraper.scrape(order)));
  }
  const cpu = process.cpuUsage(cpuBefore);
  const stop = watchTurns();
  for (let time = 0; time < times; time += 1) {
    await scraper.scrape(order);
  }
  return {
    tookMs: percentile(
      scrapes.map(({ tookMs }) => tookMs),
      0.5,
    ),
    cpuMs: (cpu.user + cpu.system) / 1_000 / times,
    blockedMs: stop(),
    bytes: scrapes[0]?.bytes ?? Number.NaN,
  };
}

interface Costs {
  readonly ours: Cost;
  readonly held: Cost;
  readonly given: Cost;
}

function figuresOf(row: string, { ours, held, given }: Costs): readonly Figure[] {
  const figure = (table: string, column: string, value: number): Figure => ({ table, row, column, value });
  const compared = (table: string, pick: (cost: Cost) => number): readonly Figure[] => [
    figure(table, "Synclag", pick(ours)),
    figure(table, "prom-client, held", pick(held)),
    figure(table, "prom-client, given", pick(given)),
    figure(table, "Synclag ÷ held", pick(ours) / pick(held)),
  ];
  return [
    ...compared("Time of a scrape, ms", ({ tookMs }) => tookMs),
    ...compared("CPU of a scrape, ms", ({ cpuMs }) => cpuMs),
    ...compared("Event loop blocked at most, ms", ({ blockedMs }) => blockedMs),
    figure("Size of an answer, MB", "Synclag", ours.bytes / 1e6),
    figure("Size of an answer, MB", "prom-client", held.bytes / 1e6),
  ];
}

function withGoal(figure: Figure): Figure {
  switch (`${figure.table}: ${figure.column}`) {
    case "Time of a scrape, ms: Synclag ÷ held":
      return { ...figure, atMost: 1 };
    case "Event loop blocked at most, ms: Synclag":
      return { ...figure, atMost: MOST_BLOCKED_MS };
    default:
      return figure;
  }
}
