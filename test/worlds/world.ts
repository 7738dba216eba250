import type { FleetSource } from "./fleet.ts";
import { T0 } from "./simulated-poll.ts";
import type { ChainSpec, WorldChain } from "./world-chain.ts";

/** What a source does from one instant on. */
export type Conduct =
  /** How long it is behind its chain; 0: at the head. */
  | { readonly kind: "follows"; readonly delayMs: number }
  /** It shows only every `blocks`th block, at least `depth` blocks below the head: a follower of final blocks. */
  | { readonly kind: "steps"; readonly blocks: number; readonly depth: number }
  /** Each reply comes from one of several replicas with these delays: a gateway, or a load balancer in front of nodes. */
  | { readonly kind: "races"; readonly delaysMs: readonly number[] }
  /** It indexes in batches, or is cached: it advances once in this time. */
  | { readonly kind: "batches"; readonly everyMs: number }
  /** It reports a block this far from its chain's head (negative: below it); `timeShiftMs` is added to its block times. */
  | { readonly kind: "offset"; readonly blocks: number; readonly timeShiftMs?: number }
  /** It begins this many blocks below the chain's head, and climbs at this multiple of the chain's pace until it is there. */
  | { readonly kind: "climbs"; readonly blocks: number; readonly pace: number }
  /** It starts at the head and reports blocks at this multiple of the chain's pace, with the times of the chain's own blocks. */
  | { readonly kind: "drifts"; readonly pace: number }
  /** It advances at this share of the chain's pace. */
  | { readonly kind: "slow"; readonly share: number }
  /** It follows another chain, which is this many blocks away at the start of the world, and has this multiple of the pace. */
  | { readonly kind: "other chain"; readonly blocks: number; readonly pace: number }
  /** It stops. `ahead`: at a block that the chain has rolled back, this far above its head. */
  | { readonly kind: "stopped"; readonly ahead?: number }
  | { readonly kind: "fails" };

export interface WorldSource extends FleetSource {
  readonly provider: string;
  readonly reportsTimes: boolean;
  /** It adds this to the block times that it reports. */
  readonly timeShiftMs: number;
  /** How it hashes blocks: two sources with the same word report the same hashes; null: none. */
  readonly hashing: string | null;
  /** Share of polls that time out. */
  readonly timeouts: number;
  /** In the order of time, from 0. */
  readonly conducts: readonly { readonly fromMs: number; readonly conduct: Conduct }[];
}

/** How sources are polled, and how strictly their statuses are judged. */
export interface Rules {
  /** `spread`: each source is polled at its own moment of each round, which depends on the order of the play. */
  readonly phases: "together" | "spread";
  /** For this time after its start, or after a loss of its state, the daemon is not judged. */
  readonly settlesMs: number;
  /** For this time after any source changes its conduct, the reference is not judged. */
  readonly changeSettlesMs: number;
  /** A source is judged after more than this number of heights in a row; a bad source, after two more. */
  readonly polls: number;
  /** For how many rounds a bad source may have a good status. */
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
  /** This number of providers at the head show where it is, or one with proof; null: the reference cannot be known. */
  readonly headShownBy: 1 | 2 | null;
  readonly rules: Rules;
  /** Reports before this time are not judged. Default: the beginning. */
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
