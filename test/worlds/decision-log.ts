import type { ChainReport } from "../../src/core/model/report.ts";
import { type StartCore, startMonitor } from "./core.ts";
import { FLEET_FAMILIES } from "./fleet-families.ts";
import { playWorld } from "./play-world.ts";
import { fallingWorld, passingWorld, randomWorld, restartWorld, takeoverWorld } from "./random-worlds.ts";
import { MINUTE, type World } from "./world.ts";

/** With many sources, only the first are shown in full. */
const MANY_SOURCES = 12;
/** Long enough for the faults of most kinds to begin; with many sources, for all of them to have been judged. */
const LASTS_MS = 75 * MINUTE;
const LASTS_WITH_MANY_MS = 16 * MINUTE;
const SUMMARY_EVERY_MS = 5 * MINUTE;

/** Kinds of random worlds. */
export const RANDOM_WORLDS: Readonly<Record<string, (index: number) => World>> = {
  random: randomWorld,
  restarts: restartWorld,
  takeovers: takeoverWorld,
  passing: passingWorld,
  falling: fallingWorld,
};

/** Kinds of worlds, each with the golden of its first world. */
export const DECISION_WORLDS = Object.entries({ ...FLEET_FAMILIES, ...RANDOM_WORLDS }).map(
  ([name, make]) => ({
    name,
    make,
    file: `test/goldens/decisions/${name.replaceAll(/[^a-z0-9]+/gi, "-").replace(/-$/, "")}.txt`,
  }),
);

/** What is decided in these worlds, line by line. */
export function decisionsIn(worlds: readonly World[], part: "beginning" | "whole" = "beginning"): string {
  const log = new DecisionLog();
  for (const world of worlds) {
    const mostMs = world.sources.length > MANY_SOURCES ? LASTS_WITH_MANY_MS : LASTS_MS;
    playWorld(part === "whole" ? world : { ...world, lastsMs: Math.min(world.lastsMs, mostMs) }, log.start);
  }
  return log.text();
}

/** Writes down what a core says: each change, and every five minutes all of it. */
class DecisionLog {
  readonly #lines: string[] = [];
  #worlds = 0;
  #fromMs = 0;
  #said = new Map<string, string>();

  readonly start: StartCore = (chains, wallMs) => {
    const core = startMonitor(chains, wallMs);
    this.#worlds += 1;
    this.#lines.push(`--- world ${this.#worlds}`);
    this.#said = new Map();
    this.#fromMs = 0;
    return {
      ...core,
      report: (nowMs) => {
        const report = core.report(nowMs);
        this.#note(report, nowMs);
        return report;
      },
      restart: (state, nowMs) => {
        this.#lines.push(`${this.#minute(nowMs)} restart, state ${state}`);
        core.restart(state, nowMs);
      },
    };
  };

  text(): string {
    return `${this.#lines.join("\n")}\n`;
  }

  #note(report: ChainReport, nowMs: number): void {
    this.#fromMs ||= nowMs;
    const { dispute, reference, standings, targets } = report;
    const at = this.#minute(nowMs);
    const agreeing = standings.flatMap(({ source, stands }) => (stands === "agrees" ? source : []));
    this.#change(at, "reference of", reference === null ? (dispute ?? "none") : agreeing.join(" "));
    for (const { detail, source, stands } of standings) {
      this.#change(at, `${source}:`, stands === "excluded" ? `excluded: ${withoutNumbers(detail)}` : stands);
    }
    for (const { key, status } of targets) {
      this.#change(at, key, status);
    }
    // With many sources, their lags say no more than these.
    const shown = targets.slice(0, MANY_SOURCES);
    if ((nowMs - this.#fromMs) % SUMMARY_EVERY_MS === 0) {
      const lags = shown.map(({ lag_blocks: blocks, lag_seconds: seconds }) => `${blocks}/${seconds}`);
      const head = `${reference?.block_number} at ${reference?.time}`;
      this.#lines.push(`${at} ${head}, ${report.block_interval_seconds} s a block; ${lags.join(" ")}`);
    }
  }

  #change(at: string, subject: string, said: string): void {
    if (this.#said.get(subject) !== said) {
      this.#said.set(subject, said);
      this.#lines.push(`${at} ${subject} ${said}`);
    }
  }

  #minute(nowMs: number): string {
    return ((nowMs - this.#fromMs) / MINUTE).toFixed(2);
  }
}

/** Heights change with each block: a line for each would hide the changes of what is said. */
function withoutNumbers(detail: string | null): string {
  return (detail ?? "").replaceAll(/\d[\d,.]*/g, "N");
}
