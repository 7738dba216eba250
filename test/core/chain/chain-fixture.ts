import { observeChain, startChain } from "../../../src/core/chain/watch-chain.ts";
import type { ChainState, WatchedChain } from "../../../src/core/head/chain-state.ts";
import type { Chain, Target } from "../../../src/core/model/fleet.ts";
import type { FailureReason, Head, Observation } from "../../../src/core/model/observation.ts";
import type { ChainReport, TargetReport } from "../../../src/core/model/report.ts";
import { reportChain } from "../../../src/core/report/report-chain.ts";

/** An instant to count from: 2026-11-20T00:00:00Z. */
export const T0 = 1_795_132_800_000;

const THRESHOLDS = {
  laggingMs: 600_000,
  criticalMs: 1_800_000,
  stalledMs: 600_000,
  staleMs: 300_000,
} as const;

export const BASE: Chain = {
  slug: "base",
  id: 8453,
  name: "Base",
  blockTimeMs: 2_000,
  testnet: false,
  thresholds: THRESHOLDS,
};

/** `airdrops/multichain` and the like; production tier, polled each 15 s unless told otherwise. */
export function targetOn(chain: Chain, name: string, pollIntervalMs = 15_000): Target {
  const [protocol = "", variant = "", tier = "production"] = name.split("/");
  return {
    key: `${protocol}/${variant}/${tier}/${chain.slug}`,
    protocol,
    variant,
    tier,
    chain: chain.slug,
    chainId: chain.id,
    explorer: null,
    playground: null,
    pollIntervalMs,
  };
}

/** A chain with one target per name. */
export function watch(chain: Chain, ...names: readonly string[]): WatchedChain {
  return { chain, targets: names.map((name) => targetOn(chain, name)) };
}

/** A height as a source would give it `atMs`, after a quick reply. */
export function headAt(
  source: string,
  atMs: number,
  head: Partial<Head> & { readonly block: number },
): Observation {
  const full = { timestampSec: null, hash: null, deployment: null, indexingErrors: null, ...head };
  return { kind: "head", source, sentAtMs: atMs - 50, receivedAtMs: atMs + 50, head: full };
}

function failedAt(source: string, atMs: number, reason: FailureReason): Observation {
  return { kind: "failed", source, sentAtMs: atMs - 50, receivedAtMs: atMs + 50, reason, detail: "" };
}

/** What a source says at an instant: a height, a reason to fail, `missing`, `not_started`, or nothing at all. */
export type Said =
  | number
  | (Partial<Head> & { readonly block: number })
  | FailureReason
  | "missing"
  | "not_started"
  | null;

/** Plays polls of one chain, tick by tick, and looks at the report. */
export class Play {
  readonly watched: WatchedChain;
  #state: ChainState;
  #nowMs = T0;

  constructor(watched: WatchedChain) {
    this.watched = watched;
    this.#state = startChain(watched);
  }

  get state(): ChainState {
    return this.#state;
  }

  get nowMs(): number {
    return this.#nowMs;
  }

  /** So many ticks of `stepMs`, in each of which every source says what `said` has for it. */
  run(
    ticks: number,
    said: (tick: { readonly nowMs: number; readonly index: number }) => Readonly<Record<string, Said>>,
    stepMs = 15_000,
  ): this {
    for (let index = 0; index < ticks; index += 1) {
      this.#nowMs += stepMs;
      const batch = Object.entries(said({ nowMs: this.#nowMs, index })).flatMap(([source, what]) =>
        what === null ? [] : [observationOf(this.#keyOf(source), this.#nowMs, what)],
      );
      this.#state = observeChain(this.#state, this.watched, batch);
    }
    return this;
  }

  wait(ms: number): this {
    this.#nowMs += ms;
    return this;
  }

  restart(): this {
    this.#state = JSON.parse(JSON.stringify(this.#state));
    return this;
  }

  report(): ChainReport {
    return reportChain(this.#state, this.watched, this.#nowMs + 100);
  }

  target(name: string): TargetReport {
    const key = this.#keyOf(name);
    const found = this.report().targets.find(({ target }) => target.key === key);
    if (found === undefined) {
      throw new Error(`Cannot find target: ${key}`);
    }
    return found;
  }

  #keyOf(name: string): string {
    return name.startsWith("rpc/") ? name : targetOn(this.watched.chain, name).key;
  }
}

/** The head of a chain with one block each `intervalMs`, at a whole number of blocks since {@link T0}. */
export function headOf(nowMs: number, intervalMs = 2_000, start = 1_000_000): number {
  return start + Math.floor((nowMs - T0) / intervalMs);
}

function observationOf(source: string, atMs: number, what: Exclude<Said, null>): Observation {
  if (typeof what === "number") {
    return headAt(source, atMs, { block: what });
  }
  if (typeof what === "object") {
    return headAt(source, atMs, what);
  }
  if (what === "missing" || what === "not_started") {
    return { kind: what, source, sentAtMs: atMs - 50, receivedAtMs: atMs + 50 };
  }
  return failedAt(source, atMs, what);
}
