import { readAtMs, type Sample } from "../model/sample.ts";
import type { Claim } from "./claim.ts";
import type { Scene } from "./scene.ts";

/** Over less time, a pace is mostly latency. */
const LEAST_PACE_MS = 45_000;
const LEAST_PACE_SAMPLES = 4;
/** Sources are compared over windows that begin and end at multiples of this. */
const WINDOW_MS = 5_000;
/** A source is off the pace if it is off by more than this share, and by more than these blocks and what is made in this time. */
const PACE_SHARE = 0.1;
const PACE_BLOCKS = 3;
const PACE_MS = 3_000;
/** Block times that are older than another's by more are of another part of the chain. */
const BESIDE_MS = 60_000;
/** A source's answers may begin so much later, and end so much earlier, than the time that is asked about. */
const BEFORE_MS = 20_000;
const AFTER_MS = 90_000;

/**
 * How many blocks each moving source made over its last answers, against what the others made in the same minutes: on a chain whose
 * blocks come unevenly all vary together.
 */
export class Paces {
  /** The sources that advance and are not late by their own block times. */
  readonly moving: readonly Claim[];
  readonly #scene: Scene;
  readonly #known = new Map<Claim, boolean>();
  /** By the window of time: sources that are asked alike share it. */
  readonly #made = new Map<string, readonly Made[]>();

  constructor(set: readonly Claim[], scene: Scene) {
    this.moving = set.filter((claim) => isMoving(claim, scene));
    this.#scene = scene;
  }

  /** Whether it goes at another pace than most of the others, which agree on theirs. */
  isOff(claim: Claim): boolean {
    let isOff = this.#known.get(claim);
    if (isOff === undefined) {
      isOff = this.#isOff(claim);
      this.#known.set(claim, isOff);
    }
    return isOff;
  }

  #isOff(claim: Claim): boolean {
    const { pace } = this.#scene;
    const [first, last] = [claim.samples[0], claim.samples.at(-1)];
    if (first === undefined || last === undefined || claim.samples.length < LEAST_PACE_SAMPLES) {
      return false;
    }
    const fromMs = Math.round(readAtMs(first) / WINDOW_MS) * WINDOW_MS;
    const toMs = Math.round(readAtMs(last) / WINDOW_MS) * WINDOW_MS;
    const own = toMs - fromMs < LEAST_PACE_MS ? null : blocksMade(claim, fromMs, toMs);
    if (own === null || pace.intervalMs === null) {
      return false;
    }
    const others = this.#madeIn(fromMs, toMs).filter(
      (other) => other.claim.provider !== claim.provider && areBeside(other.claim, claim),
    );
    const median = others[others.length >> 1]?.blocks;
    if (median === undefined) {
      return false;
    }
    const tolerated = Math.max(PACE_BLOCKS, PACE_SHARE * median);
    const noise = PACE_MS / pace.intervalMs;
    const agreeing = others.filter(({ blocks }) => Math.abs(blocks - median) <= tolerated + noise / 2).length;
    return Math.abs(own - median) > tolerated + noise && agreeing >= 2 && agreeing > others.length / 2;
  }

  /** How many blocks one source of each provider made in this time, the least first. */
  #madeIn(fromMs: number, toMs: number): readonly Made[] {
    const window = `${fromMs} ${toMs}`;
    let made = this.#made.get(window);
    if (made === undefined) {
      const byProvider = new Map<string, Made>();
      for (const claim of this.moving) {
        const blocks = byProvider.has(claim.provider) ? null : blocksMade(claim, fromMs, toMs);
        if (blocks !== null) {
          byProvider.set(claim.provider, { claim, blocks });
        }
      }
      made = [...byProvider.values()].sort((a, b) => a.blocks - b.blocks);
      this.#made.set(window, made);
    }
    return made;
  }
}

/** Whether a source may show the head: it advances and is not late by its own block time. */
function isMoving({ age, idleMs }: Claim, { stalledAfterMs }: Scene): boolean {
  return age !== "old" && idleMs <= stalledAfterMs;
}

interface Made {
  readonly claim: Claim;
  readonly blocks: number;
}

/** Whether two sources are in one part of the chain: by their times, one may be where it had another pace. */
export function areBeside(a: Claim, b: Claim): boolean {
  if (a.timeMs === null || b.timeMs === null) {
    return true;
  }
  return Math.abs(a.atMs - a.timeMs - (b.atMs - b.timeMs)) <= BESIDE_MS;
}

/** Blocks that a source made between two instants, by the line through its answers; null where these do not span them. */
function blocksMade({ samples }: Claim, fromMs: number, toMs: number): number | null {
  const [first, last] = [samples[0], samples.at(-1)];
  const spans =
    samples.length > 1 &&
    first !== undefined &&
    last !== undefined &&
    fromMs >= readAtMs(first) - BEFORE_MS &&
    toMs <= readAtMs(last) + AFTER_MS;
  return spans ? heightAt(samples, toMs) - heightAt(samples, fromMs) : null;
}

function heightAt(samples: readonly Sample[], atMs: number): number {
  const found = samples.findIndex((sample, index) => index > 0 && readAtMs(sample) >= atMs);
  const end = found === -1 ? samples.length - 1 : found;
  const [a, b] = [samples[end - 1], samples[end]];
  if (a === undefined || b === undefined) {
    return 0;
  }
  const spanMs = Math.max(1, readAtMs(b) - readAtMs(a));
  return a.block + ((b.block - a.block) * (atMs - readAtMs(a))) / spanMs;
}
