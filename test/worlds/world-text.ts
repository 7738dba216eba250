import { groupBy } from "../../src/core/model/group-by.ts";
import { formatCount, formatDuration, formatList, formatPercent } from "../../src/core/model/text.ts";
import type { Conduct, World, WorldSource } from "./world.ts";

/** What happens later in a world: to the chain, or to a source. */
interface Change {
  readonly atMs: number;
  readonly subject: string;
  readonly text: string;
}

/** A world in words, for the goldens: the chain and each source at the start, and what changes later, in the order of time. */
export function worldText({ chain, sources }: World): {
  readonly start: readonly string[];
  readonly later: readonly Change[];
} {
  const paces = chain.paces.map(({ atMs, factor, forMs }) => {
    const text = factor === null ? "halts" : `takes ${round(factor)} times as long for a block`;
    return { atMs, subject: "the chain", text: `${text} for ${formatDuration(forMs)}` };
  });
  const conducts = sources.flatMap(({ conducts: all, key }) =>
    all.slice(1).map(({ conduct, fromMs }) => ({ atMs: fromMs, subject: key, text: conductText(conduct) })),
  );
  return {
    start: [
      `the chain: makes a block every ${chain.blockTimeMs / 1_000} s`,
      ...groupText(sources.map((source) => [source.key, sourceText(source, sources)])),
    ],
    later: [...paces, ...conducts].toSorted((a, b) => a.atMs - b.atMs),
  };
}

/** `a, b: said` for each thing that is said. */
export function groupText(said: readonly (readonly [name: string, text: string])[]): readonly string[] {
  return [...groupBy(said, ([, text]) => text)].map(
    ([text, all]) => `${formatList(all.map(([name]) => name))}: ${text}`,
  );
}

function sourceText(source: WorldSource, all: readonly WorldSource[]): string {
  const { conducts, hashing, pollIntervalMs, provider, reportsTimes, timeouts, timeShiftMs } = source;
  const isShared = all.some((other) => other !== source && other.provider === provider);
  const shifted =
    timeShiftMs === 0
      ? ""
      : ` that are ${formatDuration(Math.abs(timeShiftMs))} ${timeShiftMs < 0 ? "too early" : "too late"}`;
  return [
    ...(isShared ? [`of the provider "${provider}"`] : []),
    `polled every ${formatDuration(pollIntervalMs)}`,
    reportsTimes ? `reports block times${shifted}` : "reports no block times",
    ...(hashing === null ? [] : [`its block hashes begin with 0x${hashing}`]),
    ...(timeouts === 0 ? [] : [`${formatPercent(timeouts)} of its polls time out`]),
    ...conducts.slice(0, 1).map(({ conduct }) => conductText(conduct)),
  ].join(", ");
}

function conductText(conduct: Conduct): string {
  switch (conduct.kind) {
    case "follows":
      return conduct.delayMs === 0 ? "is at the head" : `is ${formatDuration(conduct.delayMs)} late`;
    case "steps":
      return `shows only blocks whose number is a multiple of ${conduct.blocks}${conduct.depth === 0 ? "" : `, at least ${conduct.depth} below the head`}`;
    case "races":
      return `replies from one of several replicas, ${formatList(conduct.delaysMs.map(formatDuration))} late`;
    case "batches":
      return `advances once in ${formatDuration(conduct.everyMs)}`;
    case "offset":
      return `is ${beside(conduct.blocks)} the head${datedText(conduct.timeShiftMs ?? 0)}`;
    case "climbs":
      return `climbs from ${formatCount(conduct.blocks, "block")} below the head, at ${round(conduct.pace)} times the chain's pace`;
    case "drifts":
      return `reports blocks at ${round(conduct.pace)} times the chain's pace`;
    case "slow":
      return `advances at ${formatPercent(conduct.share)} of the chain's pace`;
    case "other chain":
      return `follows another chain, which is ${beside(conduct.blocks)} this one at the start and has ${round(conduct.pace)} times the pace of this one`;
    case "stopped":
      return conduct.ahead === undefined ? "stops" : `stops ${beside(conduct.ahead)} the head`;
    case "fails":
      return "fails";
  }
}

function beside(blocks: number): string {
  return `${formatCount(Math.abs(blocks), "block")} ${blocks < 0 ? "below" : "above"}`;
}

function datedText(shiftMs: number): string {
  return shiftMs === 0
    ? ""
    : `, with times that are ${formatDuration(Math.abs(shiftMs))} too ${shiftMs < 0 ? "early" : "late"}`;
}

function round(factor: number): number {
  return Number(factor.toPrecision(3));
}
