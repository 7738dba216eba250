import { percentile } from "../../test/worlds/figures.ts";
import { type Figure, sizeFigures } from "../performance/subject.ts";
import type { Measured } from "./measure-size.ts";

const US_IN_MS = 1_000;
const DAY_SEC = 86_400;
/** Beyond this exponent, something grows faster than the fleet. */
export const LINEAR = 1.1;

/** What the first screen of the document says of a size. */
export function sizingOf(measured: Measured): readonly Figure[] {
  const { endpoints, periodSec, rssMb, peakMb, cpuMs } = measured;
  return sizeFigures(`${sizeName(endpoints)}, each every ${periodSec} s`, {
    requestsADay: (endpoints * DAY_SEC) / periodSec,
    cpuShare: cpuMs / 10,
    rssMb,
    peakMb,
  });
}

/** Of one size: CPU, memory and how late everything is, with the goals of the large fleet. */
export function detailsOf(measured: Measured, goals: Readonly<Record<string, number>>): readonly Figure[] {
  const { endpoints, periodSec, durationSec, rssMb, rounds, delay } = measured;
  const first = Math.max(...rounds.map(({ firstMs }) => firstMs));
  const last = rounds.map(({ lastMs }) => lastMs);
  const columns: Readonly<Record<string, number>> = {
    "CPU, % of a core": pollingMs(measured) / 10,
    "with scrapes, %": measured.cpuMs / 10,
    "RSS, MB": rssMb,
    "first request, ms": first,
    "last request, ms": percentile(last, 0.5),
    "loop delay p99, ms": delay.p99,
    "longest, ms": delay.longest,
  };
  const place = { table: `Every ${periodSec} s, for ${durationSec} s`, row: sizeName(endpoints) };
  return Object.entries(columns).map(([column, value]) => {
    const atMost = goals[column];
    return { ...place, column, value, ...(atMost === undefined ? {} : { atMost }) };
  });
}

/** A row for each size. */
export function comparisonOf(measured: readonly Measured[]): readonly Figure[] {
  return measured.flatMap((one) => {
    const place = { table: "By size", row: `${sizeName(one.endpoints)} every ${one.periodSec} s` };
    return [
      { ...place, column: "CPU of a poll, µs", value: perPollUs(one) },
      { ...place, column: "RSS, MB", value: one.rssMb },
      { ...place, column: "scrape, ms", value: scrapeMs(one) },
      { ...place, column: "CPU of a scrape, ms", value: scrapeCpuMs(one) },
      { ...place, column: "scrape, MB", value: (one.scrapes[0]?.bytes ?? 0) / 1e6 },
      { ...place, column: "start, s", value: one.startMs / 1_000 },
    ];
  });
}

/** How everything grows from each size to the next; all of one period, the smallest first. */
export function growthOf(bySize: readonly Measured[]): readonly Figure[] {
  return bySize.slice(1).flatMap((large, index) => exponents(bySize[index], large));
}

function exponents(small: Measured | undefined, large: Measured): readonly Figure[] {
  if (small === undefined) {
    return [];
  }
  const place = { table: "Growth", row: `${sizeName(small.endpoints)} → ${sizeName(large.endpoints)}` };
  const exponent = (column: string, amount: (measured: Measured) => number): Figure => ({
    ...place,
    column,
    value: Math.log(amount(large) / amount(small)) / Math.log(large.endpoints / small.endpoints),
    atMost: LINEAR,
  });
  return [
    exponent("CPU", pollingMs),
    exponent("RSS", ({ rssMb }) => rssMb),
    exponent("scrape", scrapeMs),
    exponent("start", ({ startMs }) => startMs),
  ];
}

/** CPU beside the scrapes, milliseconds a second. */
function pollingMs({ cpuMs, scrapes, durationSec }: Measured): number {
  return cpuMs - scrapes.reduce((sum, one) => sum + one.cpuMs, 0) / durationSec;
}

function perPollUs(measured: Measured): number {
  return (pollingMs(measured) * US_IN_MS * measured.periodSec) / measured.endpoints;
}

function scrapeMs({ scrapes }: Measured): number {
  return percentile(
    scrapes.map(({ tookMs }) => tookMs),
    0.5,
  );
}

function scrapeCpuMs({ scrapes }: Measured): number {
  return percentile(
    scrapes.map(({ cpuMs }) => cpuMs),
    0.5,
  );
}

function sizeName(endpoints: number): string {
  return `${endpoints.toLocaleString("en-US")} endpoints`;
}
