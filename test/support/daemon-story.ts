import { expect } from "vitest";
import { parse } from "yaml";
import { groupBy } from "../../src/core/model/group-by.ts";
import { isoTime } from "../../src/core/model/text.ts";
import type { SimulatedTarget, TargetBehaviour } from "../../src/sim/fleet/simulated-target.ts";
import type { Answer } from "../../src/sim/servers/answer.ts";
import type { ServerKind } from "../../src/sim/servers/families.ts";
import { edited } from "./edited.ts";
import { faultNamed, times } from "./faults.ts";
import { expectGolden } from "./golden.ts";
import type { LogLine } from "./log-recorder.ts";
import { msOf } from "./outputs.ts";
import { listed, matching, SAYINGS } from "./sayings.ts";
import { type ReceivedRequest, type Scenario, startScenario } from "./scenario.ts";
import { verbIn } from "./tell.ts";

const LEVELS: Readonly<Record<string, string>> = { 20: "debug", 30: "info", 40: "warn", 50: "error" };
const MOST_TIMES = 6;

type Told = string | readonly string[];
/** Of a verb: `words` are what follows it, `text` is all of it. */
type Happening = (play: Scenario, words: readonly string[], text: string) => unknown;
type Saying = (play: Scenario, words: readonly string[], text: string) => Told | Promise<Told>;

/** What happens to the daemon on a chains.yaml, line by line; test/STORIES.md has every verb of `daemon-stories`. */
export class DaemonStory implements AsyncDisposable {
  readonly #original: string;
  #yaml: string;
  #started: Scenario | null = null;
  /** How the daemon starts: the lines `at` and `kind`. */
  readonly #settings = new Map<string, string>();
  readonly #labels = new Set<string>();
  #linesRead = 0;

  constructor(chainsYaml: string) {
    this.#original = chainsYaml;
    this.#yaml = chainsYaml;
  }

  /** Does what a line says, and returns what Synclag says then. */
  async do(line: string): Promise<readonly string[]> {
    const [verb = "", ...words] = line.split(" ");
    const text = words.join(" ");
    if (verb === "edit" || verb === "drop") {
      this.#yaml = verb === "edit" ? edited(this.#yaml, text) : without(this.#yaml, text);
      return [];
    }
    if (verb === "at" || verb === "kind") {
      this.#settings.set(words.length === 1 ? verb : `${verb} ${words[0]}`, words.at(-1) ?? "");
      return [];
    }
    this.#started ??= await this.#start();
    const say = this.#says[verb] ?? SAYS[verb];
    if (say !== undefined) {
      return listed(await say(this.#started, words, text));
    }
    if (verb === "reload") {
      return await this.#reload(this.#started, text);
    }
    const happen = verb === "restart" || verb === "watch" ? this.#readAgain(verb) : verbIn(HAPPENS, verb);
    await happen(this.#started, words, text);
    return [];
  }

  ending(): readonly string[] {
    return this.#started?.standings() ?? [];
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#started?.[Symbol.asyncDispose]();
  }

  #start(): Promise<Scenario> {
    return startScenario(this.#yaml, {
      at: this.#settings.get("at") ?? "2026-11-20T03:00:00Z",
      simulated: this.#original,
      // A story names one of the simulator's kinds; any other serves nothing.
      endpoints: (spec) => ({
        ...spec,
        kind: (this.#settings.get(`kind ${spec.key}`) ?? spec.kind) as ServerKind,
      }),
    });
  }

  /** What has changed since the last time. */
  readonly #says: Readonly<Record<string, Saying>> = {
    log: ({ log }, _, pattern) => {
      const news = log.slice(this.#linesRead);
      this.#linesRead = log.length;
      return news.flatMap((line) => logged(line, pattern));
    },
    posted: ({ posted }) => posted.splice(0),
    /** The bounds of histograms and the names of deployments are left out. */
    labels: (play) => {
      const values = play.metrics().matchAll(/[{,](?!le=)\w+="((?:[^"\\]|\\.)*)"/g);
      const news = [...new Set([...values].map(([, value = ""]) => value))].filter(
        (value) => !this.#labels.has(value) && !/^Qm\w{44}$/.test(value),
      );
      news.forEach((value) => void this.#labels.add(value));
      return news.length > MOST_TIMES ? `${news.length} values` : news;
    },
  };

  async #reload(play: Scenario, how: string): Promise<readonly string[]> {
    const { ok, detail } = await play.reload(this.#yaml);
    if (how === "said") {
      return listed(detail.split("\n"));
    }
    expect(ok).toBe(true);
    return [];
  }

  /** `watch` for changes of the file, `restart kept|lost|written [after 3h]` */
  #readAgain(verb: "watch" | "restart"): Happening {
    return async (play, [how, , after = "0s"]) => {
      if (verb === "watch") {
        play.edit(this.#yaml);
      } else {
        const state = how === "lost" || how === "written" ? how : "kept";
        await play.restart({ state, after, chainsYaml: this.#yaml });
      }
    };
  }
}

const HAPPENS: Readonly<Record<string, Happening>> = {
  run: (play, [duration = ""]) => play.run(duration),
  clock: (play, [by = ""]) => play.setClock(by),
  suspend: (play, [duration = ""]) => play.suspend(duration),
  stall: (play, [duration = ""]) => play.stall(duration),
  /** `disk full|hangs|works` */
  disk: (play, [state]) => play.setDisk(state === "full" || state === "hangs" ? state : "works"),
  resume: (play, [chain = ""]) => play.fleet.chain(chain).resume(),
  halt: (play, [chain = ""]) => play.fleet.chain(chain).halt(),
  host: (play, [host = "", state]) => play.setHost(host, state === "down" ? "down" : "up"),
  /** `lead URL TO`: the endpoint of the second URL replies behind the first; without `TO`, each replies behind its own again. */
  lead: (play, [url = "", to]) => play.lead(url, to ?? null),
  heal: (play, [key = ""]) => {
    targetsOf(play, key).forEach((target) => void target.heal());
    play.fleet.endpoints(key).forEach((endpoint) => void endpoint.heal());
  },
  slow: (play, [key = "", pace]) => targetsOf(play, key).forEach((target) => void target.slow(Number(pace))),
  reindex: (play, [key = "", ...options]) => {
    const wanted = parse(options.join(" ")) as Parameters<SimulatedTarget["reindex"]>[0];
    targetsOf(play, key).forEach((target) => void target.reindex(wanted));
  },
  skip: (play, [key = "", nth]) =>
    targetsOf(play, key).forEach((target) => void target.skipEvents(Number(nth))),
  freeze: (play, [key = ""]) => targetsOf(play, key).forEach((target) => void target.freeze()),
  /** `set KEY BEHAVIOUR` of a target, as YAML. */
  set: (play, [key = "", ...behaviour]) => {
    // The simulator accepts any value, and people review the story.
    const wanted = parse(behaviour.join(" ")) as Partial<TargetBehaviour>;
    targetsOf(play, key).forEach((target) => void target.set(wanted));
  },
  /** `golden FILE WHAT`: compares a whole output with a file of test/goldens. */
  golden: (play, [file, what = "", ...words]) => {
    const text = verbIn(WHOLE, what)(play, words);
    expectGolden(`test/goldens/${file}`, `${text}\n`);
  },
  latency: (play, [key = "", ms]) => {
    for (const endpoint of play.fleet.endpoints(key)) {
      endpoint.latency = { minMs: Number(ms), maxMs: Number(ms) };
    }
  },
  /** `wrong KEY CHAIN`: it indexes another chain than its own. */
  wrong: (play, [key = "", chain = ""]) =>
    targetsOf(play, key).forEach((target) => void target.set({ wrongChain: play.fleet.chain(chain).model })),
  /** `fail KEY FAULT [if|unless TEXT]`: one of `FAULTS`, or part of a reply as YAML; only if the true reply contains the text, or only if it does not. */
  fail: (play, [key = ""], text) => {
    const [, what = "", when, part = ""] = /^\S+ (.*?)(?: (if|unless) (.*))?$/.exec(text) ?? [];
    const fault = faultOf(what);
    for (const endpoint of play.fleet.endpoints(key)) {
      endpoint.fail(({ body }) =>
        when === undefined || body.includes(part) === (when === "if") ? fault : null,
      );
    }
  },
  /** The next request alone. */
  once: (play, [key = "", ...what]) => play.fleet.endpoint(key).fail(times(1, faultOf(what.join(" ")))),
};

/** Whole texts, for `golden FILE WHAT`. */
const WHOLE: Readonly<Record<string, (play: Scenario, words: readonly string[]) => string>> = {
  page: (play) => play.page(),
  chain: (play, [slug]) => play.page(slug),
  check: (play) => Object.values(play.check()).join("\nexit code "),
  plan: (play) => `${play.plan()}\n\n${play.planPage()}\n\n${play.plan("json")}`,
  metrics: (play) => play.metrics().trimEnd(),
  status: (play) => JSON.stringify(play.report(), null, 2),
  events: (play) => play.eventsTable(),
  incidents: (play) => JSON.stringify(play.incidents(), null, 2),
  "incidents-page": (play) => play.incidentsPage(),
  history: (play, [protocol = "", chain = ""]) =>
    JSON.stringify(play.statusHistory(protocol, chain), null, 2),
};

const SAYS: Readonly<Record<string, Saying>> = {
  ...SAYINGS,
  ready: (play) => JSON.stringify(play.ready()),
  healthy: (play) => JSON.stringify(play.healthy()),
  check: (play) => Object.values(play.check()).join("\nexit code ").split("\n"),
  /** `times KEY`: the seconds of the requests to each endpoint, `0, every 15 s until 300, 330`. */
  times: (play, [key = ""]) =>
    play.fleet.endpoints(key).map(({ key: own }, _, all) => {
      const sent = play.received.filter(({ endpoint }) => endpoint === own);
      const seconds = inRuns(sent.map(({ atMs }) => Math.round(atMs / 10) / 100)).join(", ");
      return all.length > 1 ? `${own} ${seconds}` : seconds;
    }),
  /** Each comparison of two variants, and whether their data are equal. */
  parity: (play) =>
    play
      .report()
      .parity.map(
        ({ chain, detail, difference, odd_key: odd, probe, tier, variant }) =>
          `${probe} of ${variant}/${tier}/${chain} ${detail}${difference === null ? "" : `; difference ${difference}`}${odd === null ? "" : `; odd is ${odd}`}`,
      ),
  plan: (play, _, pattern) => matching(play.planPage(), pattern),
  /** `past QUERY PATTERN`: the lines that match, of the page of incidents with this query. */
  past: (play, [query = "", ...pattern]) =>
    matching(play.incidentsPage(Object.fromEntries(new URLSearchParams(query))), pattern.join(" ")),
  /** `statuses [during 150s]`: as they are, or each that was seen in any of these seconds. */
  statuses: async (play, [during, duration = ""]) => {
    const seen = new Set(statusesOf(play));
    for (let leftMs = during === undefined ? 0 : msOf(duration); leftMs > 0; leftMs -= 1_000) {
      await play.run("1s");
      statusesOf(play).forEach((one) => void seen.add(one));
    }
    return [...seen].toSorted();
  },
  /** `details PATTERN`: of each target whose key matches. */
  details: (play, [pattern = ""]) =>
    play
      .report()
      .targets.filter(({ key }) => new RegExp(pattern).test(key))
      .map(({ variant, chain, status, detail }) => `${variant}/${chain} ${status}: ${detail}`),
  /** `lags PROTOCOL CHAIN SPAN`: each minute, with the lag of the last variant rounded to ten seconds. */
  lags: (play, [protocol = "", chain = "", ...span]) => {
    const { timestamps, targets } = play.history(
      protocol,
      chain,
      parse(span.join(" ")) as Parameters<Scenario["history"]>[2],
    );
    return timestamps.map((time, index) => {
      const lag = targets.at(-1)?.lag_seconds[index] ?? null;
      return `${isoTime(time * 1_000).slice(11, 16)} ${lag === null ? "–" : Math.round(lag / 10) * 10}`;
    });
  },
  /** `asked PATTERN`: the requests that providers received, by what was asked, with the seconds of the first few. */
  asked: (play, _, pattern) => {
    const asked = groupBy(
      play.received.filter((request) => new RegExp(pattern).test(questionOf(request))),
      questionOf,
    );
    return [...asked].map(([text, all]) => {
      const seconds = all.slice(0, MOST_TIMES).map(({ atMs }) => Math.floor(atMs / 1_000));
      return `${all.length} × ${text} at ${seconds.join(", ")}${all.length > MOST_TIMES ? ", …" : ""}`;
    });
  },
};

/** Numbers as texts; four or more at equal distances are one text: `0`, `every 15 s until 300`. */
function inRuns(numbers: readonly number[]): readonly string[] {
  const said: string[] = [];
  for (let rest = numbers; rest.length > 0; ) {
    const [first = 0, second = 0] = rest;
    const step = Math.round((second - first) * 100) / 100;
    const end = rest.findIndex((number, index) => Math.abs(number - first - index * step) > 0.001);
    const length = end < 0 ? rest.length : end;
    said.push(`${first}`, ...(length < 4 ? [] : [`every ${step} s until ${rest[length - 1]}`]));
    rest = rest.slice(length < 4 ? 1 : length);
  }
  return said;
}

/** A fault by its name, or part of a reply as YAML. */
function faultOf(text: string): Partial<Answer> {
  return text.startsWith("{") ? (parse(text) as Partial<Answer>) : faultNamed(text);
}

function questionOf({ endpoint, path, body }: ReceivedRequest): string {
  return `${endpoint} ${path} ${body.replaceAll(/0x[0-9a-f]{4,}/g, "0x…")}`.trim();
}

function targetsOf({ fleet }: Scenario, key: string): readonly SimulatedTarget[] {
  const found = [
    ...new Set([...fleet.endpoints(key).flatMap(({ targets }) => targets), ...fleet.targets(key)]),
  ];
  if (found.length === 0) {
    throw new RangeError(`Cannot find a target ${key}`);
  }
  return found;
}

function statusesOf(play: Scenario): readonly string[] {
  return play.report().targets.map(({ key, preferred, status }) => `${key} ${status}${preferred ? "*" : ""}`);
}

/** `warn Status changed target=… from=ok to=rejected` */
function logged({ level, msg, ...fields }: LogLine, pattern: string): readonly string[] {
  const parts = Object.entries(fields).map(([name, value]) => ` ${name}=${JSON.stringify(value)}`);
  const line = `${LEVELS[String(level)]} ${String(msg)}${parts.join("")}`;
  const isWanted = pattern === "" ? level !== 20 : new RegExp(pattern).test(line);
  return isWanted ? [line] : [];
}

function without(yaml: string, text: string): string {
  const lines = yaml.split("\n");
  const kept = lines.filter((line) => !line.includes(text));
  if (kept.length === lines.length) {
    throw new RangeError(`Cannot find ${text} in chains.yaml`);
  }
  return kept.join("\n");
}
