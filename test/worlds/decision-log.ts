import type { ChainReport } from "../../src/core/model/report.ts";
import { lagText } from "../support/lag-text.ts";
import { nodesOf, type StartCore, startMonitor } from "./core.ts";
import { FLEET_FAMILIES } from "./fleet-families.ts";
import { playWorld } from "./play-world.ts";
import { fallingWorld, passingWorld, randomWorld, restartWorld, takeoverWorld } from "./random-worlds.ts";
import { MINUTE, type World } from "./world.ts";
import { groupText, worldText } from "./world-text.ts";

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
  const texts = worlds.map((world) => {
    const mostMs = world.sources.length > MANY_SOURCES ? LASTS_WITH_MANY_MS : LASTS_MS;
    const log = new DecisionLog(world);
    playWorld(part === "whole" ? world : { ...world, lastsMs: Math.min(world.lastsMs, mostMs) }, log.start);
    return log.text();
  });
  return `${texts.join("\n\n")}\n`;
}

/** Writes down what happens in a world and what a core says: each change with its minute, and every five minutes the head and all lags. */
class DecisionLog {
  readonly #lines: string[];
  #later: ReturnType<typeof worldText>["later"];
  #names = new Map<string, string>();
  #fromMs = 0;
  readonly #said = new Map<string, string>();

  constructor(world: World) {
    const { later, start } = worldText(world);
    this.#lines = start.map((line) => `- ${this.#short(line)}`);
    this.#later = later;
  }

  readonly start: StartCore = (chains, wallMs) => {
    const core = startMonitor(chains, wallMs);
    this.#names = new Map([...nodesOf(chains)].map(([bench, key]) => [key, bench]));
    return {
      ...core,
      report: (nowMs) => {
        const report = core.report(nowMs);
        this.#fromMs ||= nowMs;
        this.#tellChanges(nowMs);
        this.#note(report, nowMs);
        return report;
      },
      restart: (state, nowMs) => {
        this.#add(nowMs, `the daemon restarts, its state is ${state}`);
        core.restart(state, nowMs);
      },
    };
  };

  text(): string {
    return this.#lines.join("\n");
  }

  #tellChanges(nowMs: number): void {
    const isPast = ({ atMs }: { readonly atMs: number }): boolean => atMs <= nowMs - this.#fromMs;
    const changes = groupText(this.#later.filter(isPast).map(({ subject, text }) => [subject, text]));
    this.#later = this.#later.filter((change) => !isPast(change));
    if (changes.length > 0) {
      this.#add(nowMs, `from now on, ${changes.join("; ")}`);
    }
  }

  #note(report: ChainReport, nowMs: number): void {
    const { dispute, reference, standings, targets } = report;
    const agreeing = standings.filter(({ stands }) => stands === "agrees");
    const others = standings
      .filter(({ stands }) => stands !== "agrees")
      .map(({ detail, source, stands }) => {
        const why = stands === "excluded" ? `excluded (${withoutNumbers(detail)})` : stands;
        return [this.#nameOf(source), why] as const;
      });
    const of = `reference from ${agreeing.length} of ${standings.length} sources`;
    const said = [reference === null ? `no reference: ${dispute}` : of, ...groupText(others)].join("; ");
    if (this.#isNews("reference", said)) {
      this.#add(nowMs, said);
    }
    const changed = targets.filter(({ key, status }) => this.#isNews(key, status));
    if (changed.length > 0) {
      const statuses = groupText(changed.map(({ key, status }) => [this.#nameOf(key), status]));
      this.#add(nowMs, `status of ${statuses.join("; ")}`);
    }
    if ((nowMs - this.#fromMs) % SUMMARY_EVERY_MS === 0) {
      // With many sources, the lags of the others say no more.
      const lags = groupText(
        targets.slice(0, MANY_SOURCES).map((target) => [this.#nameOf(target.key), lagText(target)]),
      );
      this.#add(nowMs, `${headText(report)}; ${lags.join("; ")}`);
    }
  }

  #isNews(subject: string, said: string): boolean {
    const isNews = this.#said.get(subject) !== said;
    this.#said.set(subject, said);
    return isNews;
  }

  #add(nowMs: number, text: string): void {
    const minute = ((nowMs - this.#fromMs) / MINUTE).toFixed(2);
    this.#lines.push(`${minute} ${this.#short(text)}`);
  }

  #nameOf(key: string): string {
    return this.#names.get(key) ?? key;
  }

  /** `v00` for `airdrops/v00/production/bench`, `node 0` for `rpc/bench/0`: all is on one chain and in one tier. */
  #short(text: string): string {
    return text.replaceAll(/\w+\/(\w+)\/production\/bench/g, "$1").replaceAll("rpc/bench/", "node ");
  }
}

function headText({ block_interval_seconds: interval, reference }: ChainReport): string {
  const pace = interval === null ? "pace not known yet" : `${Number(interval.toPrecision(3))} s a block`;
  return reference === null ? `no head, ${pace}` : `head ${reference.block_number}, ${pace}`;
}

/** Without heights, which change with each block, and without long lists: both would hide the changes of what is said. */
function withoutNumbers(detail: string | null): string {
  return (detail ?? "")
    .replaceAll(/\b\d([\d,.]*\d)?/g, "N")
    .replaceAll(/(\w+, ){4,}\w+ and (an RPC node|\w+)/g, "the others");
}
