import type { FleetSource } from "./fleet.ts";
import { T0 } from "./simulated-poll.ts";
import type { ChainSpec, WorldChain } from "./world-chain.ts";

/** What a source does from one instant on. */
export type Conduct =
  /** How long it is behind its chain; 0: at the head. */
  | { readonly kind: "follows"; readonly delayMs: number }
  /** It shows each of this many blocks only, this many blocks deep: a follower of final blocks. */
  | { readonly kind: "steps"; readonly blocks: number; readonly depth: number }
  /** Each reply comes from one of several, which are this long behind: a gateway, or a load balancer in front of nodes. */
  | { readonly kind: "races"; readonly delaysMs: readonly number[] }
  /** It indexes in batches, or is cached, for this long. */
  | { readonly kind: "batches"; readonly everyMs: number }
  /** So many blocks away from its chain; `timeShiftMs` is what it adds to its block times. */
  | { readonly kind: "offset"; readonly blocks: number; readonly timeShiftMs?: number }
  /** It begins this many blocks below the chain's head, and goes at this multiple of the chain's pace until it is there. */
  | { readonly kind: "climbs"; readonly blocks: number; readonly pace: number }
  /** From its beginning on it makes blocks at this multiple of the chain's pace, with the times of the chain's. */
  | { readonly kind: "drifts"; readonly pace: number }
  /** It sees the chain at this share of its pace. */
  | { readonly kind: "slow"; readonly share: number }
  /** Another chain, which is this many blocks away at the start of the world, and goes at this multiple of the pace. */
  | { readonly kind: "other chain"; readonly blocks: number; readonly pace: number }
  /** `ahead`: at a block that the chain has rolled back, so far above its head. */
  | { readonly kind: "stopped"; readonly ahead?: number }
  | { readonly kind: "fails" };

export interface WorldSource extends FleetSource {
  readonly provider: string;
  readonly reportsTimes: boolean;
  /** What it adds to the times that it reports. */
  readonly timeShiftMs: number;
  /** How it hashes blocks: two sources with the same word report the same hashes; null: none. */
  readonly hashing: string | null;
  /** Share of polls that time out. */
  readonly timeouts: number;
  /** In the order of time, from 0. */
  readonly conducts: readonly { readonly fromMs: number; readonly conduct: Conduct }[];
}

/** How sources are asked, and how exactly what is said of them is judged. */
export interface Rules {
  /** `spread`: each source at a moment of its own in each round, by the order of the play. */
  readonly phases: "together" | "spread";
  /** So long after its start, or after a loss of its state, the daemon is not judged. */
  readonly settlesMs: number;
  /** So long after any source begins something else, the reference is not judged. */
  readonly changeSettlesMs: number;
  /** A source is judged after more heights in a row than this; a bad one, after two more. */
  readonly polls: number;
  /** How many rounds it may be bad unnoticed. */
  readonly badLooks: number;
  /** How old the reference may be, and how far ahead a source may carry it; this many blocks more are not a fault. */
  readonly referenceOldMs: number;
  readonly referenceAheadMs: number;
  readonly referenceBlocks: number;
  /** How near to a threshold either status is right. */
  readonly thresholdMs: number;
}

export interface World {
  readonly seed: string;
  readonly chain: ChainSpec;
  readonly sources: readonly WorldSource[];
  readonly lastsMs: number;
  /** The daemon restarts, with its state file or without. */
  readonly restarts: readonly { readonly atMs: number; readonly state: "kept" | "lost" }[];
  /** So many providers at the head show where it is, or one that can prove it; null: the reference is not known. */
  readonly headShownBy: 1 | 2 | null;
  readonly rules: Rules;
  /** What is said before is not judged. Left out: the beginning. */
  readonly judgedFromMs?: number;
}

export const SECOND = 1_000;
export const MINUTE = 60 * SECOND;
export const HOUR = 60 * MINUTE;

export const AT_HEAD: Conduct = { kind: "follows", delayMs: 0 };

export function always(conduct: Conduct): WorldSource["conducts"] {
  return [{ fromMs: 0, conduct }];
}

/** The block that a source shows at an instant, and the time that it reports of it. `fromMs`: since when it does this. */
export function shownBy(
  conduct: Exclude<Conduct, { kind: "fails" }>,
  chain: WorldChain,
  atMs: number,
  fromMs: number,
): { readonly block: number; readonly timeMs: number } {
  const onChain = (block: number) => ({ block, timeMs: chain.dateOf(block) });
  switch (conduct.kind) {
    case "follows":
      return onChain(chain.headAt(atMs - conduct.delayMs));
    case "steps":
      return onChain(Math.floor((chain.headAt(atMs) - conduct.depth) / conduct.blocks) * conduct.blocks);
    case "races":
      return onChain(
        chain.headAt(atMs - (conduct.delaysMs[Math.floor(atMs) % conduct.delaysMs.length] ?? 0)),
      );
    case "batches":
      return onChain(chain.headAt(fromMs + Math.floor((atMs - fromMs) / conduct.everyMs) * conduct.everyMs));
    case "stopped": {
      const { block, timeMs } = onChain(chain.headAt(fromMs));
      return { block: block + (conduct.ahead ?? 0), timeMs };
    }
    case "slow":
      return onChain(chain.headAt(fromMs + (atMs - fromMs) * conduct.share));
    case "offset": {
      const head = chain.headAt(atMs);
      const block = Math.max(1, head + conduct.blocks);
      return { block, timeMs: chain.timeOf(Math.min(block, head)) + (conduct.timeShiftMs ?? 0) };
    }
    case "climbs": {
      const made = ((atMs - fromMs) / chain.blockTimeMs) * conduct.pace;
      return onChain(Math.min(chain.headAt(atMs), Math.floor(chain.headAt(fromMs) - conduct.blocks + made)));
    }
    case "drifts": {
      const from = chain.headAt(fromMs);
      const made = chain.headAt(atMs) - from;
      return { block: from + Math.floor(made * conduct.pace), timeMs: chain.timeOf(from + made) };
    }
    case "other chain": {
      const from = chain.headAt(T0);
      const made = Math.floor(((atMs - T0) / chain.blockTimeMs) * conduct.pace);
      const timeMs = T0 + (made * chain.blockTimeMs) / conduct.pace;
      return { block: Math.max(1, from + conduct.blocks + made), timeMs };
    }
  }
}
