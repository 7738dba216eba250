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
/** A log ends this long after the last change of the first part of a world, or after this time if nothing changes. */
const AFTER_CHANGE_MS = 20 * MINUTE;
const FIRST_PART_MS = 75 * MINUTE;
const UNCHANGED_MS = 45 * MINUTE;
const SUMMARY_EVERY_MS = 5 * MINUTE;

/** Kinds of random worlds. */
export const RANDOM_WORLDS: Readonly<Record<string, (index: number) => World>> = {
  "an honest majority": randomWorld,
  "an honest majority, restarts": restartWorld,
  "liars have the majority for twenty minutes": takeoverWorld,
  "the heights of another chain pass this chain's": passingWorld,
  "all but one fall behind": fallingWorld,
};

/** Kinds of worlds, each with the golden of its first world. */
export const DECISION_WORLDS = Object.entries({ ...FLEET_FAMILIES, ...RANDOM_WORLDS }).map(
  ([name, make]) => ({
    name,
    make,
    file: goldenOf(name),
  }),
);

export function goldenOf(name: string): string {
  return `test/goldens/decisions/${name.replaceAll(/[^a-z0-9]+/gi, "-").replace(/-$/, "")}.txt`;
}

/** What is decided in these worlds of a kind, line by line. */
export function decisionsIn(kind: string, worlds: readonly World[]): string {
  const texts = worlds.map((world) => {
    const log = new DecisionLog(world);
    playWorld({ ...world, lastsMs: Math.min(world.lastsMs, partOf(world)) }, log.start);
    return `# ${kind}\nHow to read this: test/STORIES.md, test/goldens\n${log.text()}`;
  });
  return `${texts.join("\n\n")}\n`;
}

function partOf(world: World): number {
  const changes = [...worldText(world).later, ...world.restarts].map(({ atMs }) => atMs);
  const first = changes.filter((atMs) => atMs <= FIRST_PART_MS);
  return first.length === 0 ? UNCHANGED_MS : Math.max(...first) + AFTER_CHANGE_MS;
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

/** With `…` for heights and durations, which change with each block, and for long lists: both would hide the changes of what is said. */
function withoutNumbers(detail: string | null): string {
  return (detail ?? "")
    .replaceAll(/\b\d([\d,.]*\d)?( (d|h|min|s)\b)?( \d+ (h|min)\b)?/g, "…")
    .replaceAll(/(\w+, ){4,}\w+ and (an RPC node|\w+)/g, "the others");
}
