/** How the blocks of a chain come. */
export interface ChainSpec {
  readonly blockTimeMs: number;
  /** How the time between two blocks varies around its mean. */
  readonly spread: "even" | "±30 %" | "exponential";
  /** From `atMs` after the start on, for `forMs`, the time between blocks has this factor; null: the chain makes no block. */
  readonly paces: readonly {
    readonly atMs: number;
    readonly forMs: number;
    readonly factor: number | null;
  }[];
  /** A sequencer that makes up for an outage may date its blocks as if there had been no outage. Default: the time at which it makes a block. */
  readonly datesBy?: "schedule";
}

export interface WorldChain {
  readonly blockTimeMs: number;
  /** The newest block at an instant. */
  readonly headAt: (atMs: number) => number;
  readonly timeOf: (block: number) => number;
  /** The time that the block reports. */
  readonly dateOf: (block: number) => number;
  /** Whether it made no block for a minute or more within a span of time. */
  readonly wasHalted: (fromMs: number, toMs: number) => boolean;
}

const START_BLOCK = 40_000_000;
/** Sources may be late by up to this time at the start. */
const BEFORE_MS = 2 * 3_600_000;
const STANDSTILL_MS = 60_000;

export function createWorldChain(
  { blockTimeMs, datesBy, paces, spread }: ChainSpec,
  startMs: number,
  lastsMs: number,
  random: () => number,
): WorldChain {
  const timesMs: number[] = [];
  const firstMs = startMs - BEFORE_MS;
  for (let timeMs = firstMs; timeMs < startMs + lastsMs + 2 * STANDSTILL_MS; ) {
    timesMs.push(timeMs);
    const now = timeMs - startMs;
    const pace = paces.find(({ atMs, forMs }) => now >= atMs && now < atMs + forMs);
    timeMs +=
      pace?.factor === null
        ? pace.atMs + pace.forMs - now + 1
        : blockTimeMs * shareOf(spread, random) * (pace?.factor ?? 1);
  }
  const headAt = (atMs: number): number => {
    let [low, high] = [0, timesMs.length];
    while (high - low > 1) {
      const middle = (low + high) >>> 1;
      [low, high] = (timesMs[middle] ?? 0) <= atMs ? [middle, high] : [low, middle];
    }
    return START_BLOCK + low;
  };
  const timeOf = (block: number): number =>
    block < START_BLOCK
      ? firstMs - (START_BLOCK - block) * blockTimeMs
      : (timesMs[block - START_BLOCK] ?? Number.POSITIVE_INFINITY);
  const dateOf = (block: number): number =>
    datesBy === "schedule" ? firstMs + (block - START_BLOCK) * blockTimeMs : timeOf(block);
  const leastMs = Math.max(STANDSTILL_MS, 5 * blockTimeMs);
  // A chain that ended never makes its next block.
  const standstills = timesMs
    .map((sinceMs, index) => ({ sinceMs, untilMs: timesMs[index + 1] ?? Number.POSITIVE_INFINITY }))
    .filter(({ sinceMs, untilMs }) => untilMs - sinceMs >= leastMs);
  const wasHalted = (fromMs: number, toMs: number): boolean =>
    standstills.some(
      ({ sinceMs, untilMs }) =>
        untilMs > fromMs &&
        sinceMs <= toMs &&
        (untilMs !== Number.POSITIVE_INFINITY || toMs - sinceMs >= leastMs),
    );
  return { blockTimeMs, headAt, timeOf, dateOf, wasHalted };
}

function shareOf(spread: ChainSpec["spread"], random: () => number): number {
  switch (spread) {
    case "even":
      return 1;
    case "±30 %":
      return 0.7 + 0.6 * random();
    case "exponential":
      return -Math.log(1 - random());
  }
}
