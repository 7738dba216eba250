import { parseDuration } from "../../src/config/quantities.ts";
import { groupBy } from "../../src/core/model/group-by.ts";
import { FAILURE_REASONS } from "../../src/core/model/observation.ts";
import type { GapReport, TargetReport } from "../../src/core/model/report.ts";
import { formatCount } from "../../src/core/model/text.ts";
import { fleetYaml } from "../scenarios/statuses/fleets.ts";
import { lagText } from "./lag-text.ts";
import { listed, SAYINGS } from "./sayings.ts";
import { behind, dated, inTurn, type Reply, type Script, ScriptedFleet } from "./scripted-fleet.ts";

const SCHEDULES: Readonly<Record<string, string>> = { "10m": "0 */10 * * * *", "30m": "0 */30 * * * *" };

/** What happens to a scripted fleet, line by line; test/STORIES.md has every verb of `stories`, and every reply. */
export class Story {
  #play = new ScriptedFleet(fleetYaml(["multichain", "subgraph", "mirror"]));
  #blockTimeMs = 2_000;

  /** Does what a line says, and returns the changes of status and the state of all targets. */
  do(line: string): readonly string[] {
    const [verb = "", ...words] = line.split(" ");
    const [first = "", ...others] = words;
    const play = this.#play;
    switch (verb) {
      case "fleet":
        this.#play = new ScriptedFleet(this.#yamlOf(words));
        return [];
      case "reload":
        play.reload(this.#yamlOf(words));
        return [this.#state()];
      case "run":
        return this.#run(first);
      case "wait":
        play.wait(first);
        return [this.#state()];
      case "poll":
        play.poll(nameOf(first), others.length === 0 ? undefined : this.#replyOf(others));
        return [this.#state()];
      case "halt":
      case "resume":
        play.setChains(verb === "halt" ? "halted" : "running");
        return [];
      case "restart":
        play.restart();
        return [this.#state()];
      case "clock":
        play.setClock(first);
        return [];
      case "gaps":
        return listed(play.chain().gaps.map(gapText));
      case "height": {
        const { block_number, lag_blocks } = play.target(first);
        return [`height ${besideHead((block_number ?? 0) - this.#head())}, ${lag_blocks} blocks behind`];
      }
      case "forecasts":
        return [this.#forecasts(first, others[0])];
      case "detail":
        return this.#detail(first);
      case "check":
        return [`exit code ${play.check(...words).exitCode}`];
      default: {
        const say = SAYINGS[verb];
        if (say !== undefined) {
          return listed(say(play, words, words.join(" ")));
        }
        play.script(nameOf(verb), this.#scriptOf(words));
        return [];
      }
    }
  }

  #run(duration: string): readonly string[] {
    const play = this.#play;
    const statuses = new Map(play.report().targets.map(({ key, status }) => [key, status]));
    const changes: string[] = [];
    const references = new Set<number | null>();
    play.run(duration, (elapsedMs) => {
      const { targets } = play.report();
      const changed = targets.filter(({ key, status }) => statuses.get(key) !== status);
      const news = groupBy(changed, ({ detail, status }) =>
        status === "ok" ? "ok" : `${status}: ${detail}`,
      );
      for (const [said, all] of news) {
        const variants = all.map(({ variant }) => variant).join(", ");
        changes.push(`after ${elapsedMs / 1_000} s ${variants} ${said}`);
      }
      for (const { key, status } of changed) {
        statuses.set(key, status);
      }
      references.add(this.#referenceAhead());
    });
    return [...changes, `reference meanwhile: ${rangeOf(references)}`, this.#state()];
  }

  /** `reference at the head, from 2 sources: a* ok, level; b lagging, 400 blocks (800.9 s) behind` */
  #state(): string {
    const { reference, standings, targets } = this.#play.chain();
    const excluded = standings.filter(({ stands }) => stands === "excluded").length;
    const against = excluded === 0 ? "" : `, ${excluded} excluded`;
    const from = reference === null ? "" : `, from ${formatCount(reference.sources, "source")}`;
    // The status of a target already says that it is in trouble.
    const incidents = this.#play
      .report()
      .incidents.filter(({ kind }) => kind !== "target")
      .map(({ scope, subject }) => `incident of the ${scope === "network" ? scope : `${scope} ${subject}`}`);
    const said = [...targets.map(standingOf), ...incidents].join("; ");
    return `reference ${besideHead(this.#referenceAhead())}${from}${against}: ${said}`;
  }

  /** The forecasts in order, without repetitions: `no forecast`, `never` or `a time`. */
  #forecasts(name: string, duration = "0s"): string {
    const said: string[] = [];
    this.#play.run(duration, () => {
      const { catch_up: forecast } = this.#play.target(name);
      const when = forecast?.eta_seconds == null ? "never" : "a time";
      const word = forecast === null ? "no forecast" : when;
      said.push(...(said.at(-1) === word ? [] : [word]));
    });
    return said.join(", then ");
  }

  #detail(name: string): readonly string[] {
    const { detail, last_advance, last_success } = this.#play.target(name);
    const [advanced, answered] = [last_advance, last_success].map((time) => time?.slice(11, 19) ?? "never");
    return [detail, `last advance ${advanced}, last reply ${answered}`];
  }

  /** How far the reference is ahead of the true head; null: there is none. */
  #referenceAhead(): number | null {
    const { reference } = this.#play.chain();
    return reference === null ? null : reference.block_number - this.#head();
  }

  #head(): number {
    return this.#play.head(this.#blockTimeMs);
  }

  #yamlOf(words: readonly string[]): string {
    const settings = words
      .filter((word) => word.includes("="))
      .map((word) => word.replaceAll("_", " ").split("="));
    const variants = words.filter((word) => !word.includes("=")).map((word) => word.split("@"));
    // Each has a name and a value.
    const values = Object.fromEntries(settings) as Record<string, string>;
    const { rpc = "0", block = "2s", ...thresholds } = values;
    this.#blockTimeMs = parseDuration(block) ?? 2_000;
    const names = variants.map(([name = ""]) => name);
    const schedules = variants.flatMap(([name, every = ""]) =>
      every === "" ? [] : [[name, SCHEDULES[every]]],
    );
    const blockTime = block === "unknown" ? null : block;
    return fleetYaml(names, {
      blockTime,
      rpc: Number(rpc),
      schedules: Object.fromEntries(schedules),
      thresholds,
    });
  }

  #replyOf(words: readonly string[]): Reply {
    const time = (block: number): number =>
      Math.floor((this.#play.nowMs - (this.#head() - block) * this.#blockTimeMs) / 1_000);
    return this.#scriptOf(words)({ head: this.#head(), time });
  }

  /** A reply of the table in test/STORIES.md. */
  #scriptOf([kind = "", ...words]: readonly string[]): Script {
    const [first = "0", , third = "0"] = words;
    const number = Number(first);
    const from = this.#head();
    switch (kind) {
      case "behind":
        return behind(number);
      case "ahead":
        return behind(-number);
      case "dated":
        return dated(number, Number(third));
      case "says":
        return () => number;
      case "stuck":
        return () => from - number;
      case "pace":
        return ({ head, time }) => {
          const batch = words.includes("by") ? Number(words.at(-1)) : 1;
          const made = Math.floor((from + Number(third) + (head - from) * number) / batch) * batch;
          const block = words.includes("capped") ? Math.min(head, made) : made;
          const dates = words.includes("dated") ? time(block) : time(head);
          return { block, timestampSec: words.some((word) => word.startsWith("dated")) ? dates : null };
        };
      case "climbs": {
        let block = from - number;
        return ({ head }) => {
          block = Math.min(number > 0 ? head : Infinity, block + Number(third));
          return block;
        };
      }
      case "flags":
        return ({ head }) => ({
          block: head - number,
          indexingErrors: true,
          ...(words.length > 1 ? { failure: words.slice(1).join(" ") } : {}),
        });
      case "hash":
        return ({ head }) => ({ block: head, hash: `0x${first}${head}` });
      case "silent":
        return () => null;
      case "pattern": {
        const letters = words
          .join("")
          .replace(/([hl])(\d+)/g, (_, letter: string, count: string) => letter.repeat(Number(count)));
        return inTurn(...[...letters].map((letter) => behind(letter === "l" ? 99_000 : 0)));
      }
      case "turns": {
        const turns = words.join(" ").split(" / ");
        return inTurn(...turns.map((one) => this.#scriptOf(one.split(" "))));
      }
      default:
        return () => failureOf(kind, words.join(" "));
    }
  }
}

function gapText({ variant, against, blocks, seconds, uncertainty_blocks: bound }: GapReport): string {
  return `${variant} against ${against}: ${blocks} ± ${bound.toFixed(1)} blocks, ${seconds?.toFixed(1)} s`;
}

/** `from 5 blocks below the head to the head`, and `at times none` if there was none for a while. */
function rangeOf(all: ReadonlySet<number | null>): string {
  const known = [...all].filter((one) => one !== null);
  if (known.length === 0) {
    return "none";
  }
  const [low = "", high = ""] = [Math.min(...known), Math.max(...known)].map(besideHead);
  const range = low === high ? low : `from ${low} to ${high}`.replaceAll(" at the head", " the head");
  return known.length < all.size ? `${range}, at times none` : range;
}

/** `2 blocks below the head`, or `none`. */
function besideHead(blocks: number | null): string {
  if (blocks === null) {
    return "none";
  }
  const distance = formatCount(Math.abs(blocks), "block");
  return blocks === 0 ? "at the head" : `${distance} ${blocks < 0 ? "below" : "above"} the head`;
}

function nameOf(word: string): string {
  return word === "all" ? "airdrops" : word;
}

/** `b* lagging, 400 blocks (800 s) behind, 1 × reorg`; with a star: preferred. */
function standingOf(target: TargetReport): string {
  const { preferred, reason, regressions, status, up, variant } = target;
  const failed = reason === null ? ", not up" : `, not up: ${reason}`;
  const steps = Object.entries(regressions).map(([kind, count]) => (count > 0 ? `, ${count} × ${kind}` : ""));
  return `${variant}${preferred ? "*" : ""} ${status}, ${lagText(target)}${up ? "" : failed}${steps.join("")}`;
}

function failureOf(kind: string, detail: string): Reply {
  if (kind === "missing" || kind === "not_started") {
    return kind;
  }
  const failed = FAILURE_REASONS.find((reason) => reason === kind);
  if (failed === undefined) {
    throw new RangeError(`Cannot reply ${kind}: test/STORIES.md has the replies, and the verbs`);
  }
  return { failed, detail };
}
