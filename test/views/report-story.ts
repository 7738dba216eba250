import { parse } from "yaml";
import { parseDuration, parseLimit } from "../../src/config/quantities.ts";
import type {
  ChainReport,
  GapReport,
  ParityReport,
  Report,
  TargetReport,
} from "../../src/core/model/report.ts";
import { formatCount, formatDuration, isoTime } from "../../src/core/model/text.ts";
import { healthJson } from "../../src/views/api/health.ts";
import { filterByWords } from "../../src/views/api/selection.ts";
import { renderPublicPage } from "../../src/views/page/public.ts";
import { renderStatusPage } from "../../src/views/page/status.ts";
import { applyMaxLag, selectForCheck } from "../../src/views/terminal/check.ts";
import { headline } from "../../src/views/wording/headline.ts";
import { findProblems } from "../../src/views/wording/targets.ts";
import { metricsSource } from "../support/metrics-source.ts";
import { msOf, Outputs, PAGE, textOf } from "../support/outputs.ts";
import { listed, matching, SAYINGS } from "../support/sayings.ts";
import { fleetReport } from "./fleet-report.ts";
import * as sample from "./sample-report.ts";

/** The chains of a line such as `Base: multichain ok, airdrops/subgraph/testing lagging 12m block_number=7; Sepolia: third failed ?`. */
export function chainsOf(text: string): readonly ChainReport[] {
  return text.split("; ").map((part) => {
    const [, name = "", targets = ""] = /^(.+?): ?(.*)$/.exec(part) ?? [];
    const chain = sample.sampleChain({ slug: name.toLowerCase(), name, testnet: name === "Sepolia" });
    const all = targets.split(", ").filter((one) => one !== "");
    return sample.sampleChainReport({ chain, targets: all.map((one) => targetOf(one, chain.slug)) });
  });
}

/** `[PROTOCOL/]VARIANT[/testing] STATUS [LAG|?] [FIELD=YAML…]` */
function targetOf(text: string, chain: string): TargetReport {
  const [name = "", status = "", ...words] = text.split(" ");
  const [, protocol = "lockup", variant = "", tier = "production"] =
    /^(?:(\w+)\/)??([\w-]+)(?:\/(testing))?$/.exec(name) ?? [];
  const [lag] = words.filter((word) => !word.includes("="));
  const fields = words.filter((word) => word.includes("=")).map((word) => word.split("="));
  const others = Object.fromEntries(fields.map(([field, value = ""]) => [field, fieldOf(value)]));
  return sample.sampleTargetReport({
    target: sample.sampleTarget({ protocol, variant, tier, chain }),
    // People review the stories, so that each names existing statuses and fields.
    status: status as TargetReport["status"],
    ...lagOf(lag),
    ...(others as Partial<TargetReport>),
  });
}

/** Of `90s`, or `?` for an unknown one. */
function lagOf(lag: string | undefined): Partial<TargetReport> {
  if (lag === undefined) {
    return {};
  }
  return lag === "?"
    ? { lag_seconds: null, lag_blocks: null, detail: "lag unknown" }
    : { lag_seconds: msOf(lag) / 1_000, detail: `${formatDuration(msOf(lag))} behind the reference` };
}

/** A time ago as that time, and YAML. */
function fieldOf(text: string): unknown {
  const agoMs = parseDuration(text.replace(/^-/, ""));
  return text.startsWith("-") && agoMs !== null ? isoTime(sample.NOW_MS - agoMs) : parse(text);
}

class ReportOutputs extends Outputs {
  readonly #report: Report;

  constructor(report: Report) {
    super();
    this.#report = report;
  }

  report(): Report {
    return this.#report;
  }

  metricsSource() {
    return metricsSource({ report: this.#report });
  }

  protected endpointRecords() {
    return [];
  }
}

/** What the views say of a report, line by line; test/STORIES.md has every verb of `reports`. */
export class ReportStory {
  #chains: readonly ChainReport[] = [];
  #report: Report = fleetReport();

  do(line: string): readonly string[] {
    const [verb = "", ...words] = line.split(" ");
    const said = this.#say(verb, words, words.join(" "), line);
    return said === null ? [] : listed(said);
  }

  #say(
    verb: string,
    words: readonly string[],
    text: string,
    line: string,
  ): string | readonly string[] | null {
    const report = this.#report;
    switch (verb) {
      case "fleet":
        this.#report = fleetReport();
        return this.#verdict();
      case "with":
        this.#report = { ...report, ...(parse(text) as Partial<Report>) };
        return null;
      case "chain-with":
        return this.#change(parse(text) as Partial<ChainReport>);
      case "gap":
        return this.#change({ gaps: [sample.sampleGap(parse(text) as Partial<GapReport>)] });
      case "parity":
        return this.#change({ parity: [sample.sampleParity(parse(text) as Partial<ParityReport>)] });
      case "incident":
        return this.#incident(text);
      case "select": {
        const { errors, json } = selectForCheck(report, words);
        const { exitCode } = this.#outputs().check(...words);
        return errors.length > 0
          ? errors
          : `${formatCount(json.targets.length, "target")}, exit code ${exitCode}`;
      }
      case "find": {
        const { chains, parity, targets } = filterByWords(report, text);
        const found = `${formatCount(targets.length, "target")} on ${formatCount(chains.length, "chain")}`;
        return parity.length === 0 ? found : `${found}, and their parity`;
      }
      case "keep":
        this.#report = selectForCheck(report, words).json;
        return null;
      case "max-lag":
        return applyMaxLag(report, parseLimit(text) ?? { ms: msOf(text), blocks: null }).targets.map(
          ({ detail, status, variant }) => `${variant} ${status}: ${detail}`,
        );
      case "health":
        return this.#health(
          Object.fromEntries(words.map((word) => word.split("="))) as Record<string, string>,
        );
      case "filtered": {
        const [q = "", pattern = ""] = text.split(" | ");
        return matching(
          textOf(renderStatusPage(report, { ...PAGE, view: { q, sort: "", range: "" } })),
          pattern,
        );
      }
      case "public":
        return matching(
          textOf(
            renderPublicPage(report, { title: "Status", protocols: null, notice: null }, PAGE.events, ""),
          ),
          "^Status|Base|system",
        );
      case "check":
        return Object.values(this.#outputs().check(...words))
          .join("\nexit code ")
          .split("\n");
      default: {
        const say = SAYINGS[verb];
        if (say !== undefined) {
          return say(this.#outputs(), words, text);
        }
        this.#chains = chainsOf(line);
        this.#report = sample.sampleReport({ chains: this.#chains });
        return this.#verdict();
      }
    }
  }

  #outputs(): Outputs {
    return new ReportOutputs(this.#report);
  }

  #change(first: Partial<ChainReport>): string {
    this.#chains = this.#chains.map((chain, index) => (index === 0 ? { ...chain, ...first } : chain));
    this.#report = sample.sampleReport({ chains: this.#chains });
    return this.#verdict();
  }

  /** `bad, 1 of 2 targets needs attention: …; exit code 1; lockup/base degraded` */
  #verdict(): string {
    const { tone } = headline(this.#report, findProblems(this.#report));
    const { text, exitCode } = this.#outputs().check();
    const states = /^synclag_pair_state\{protocol="(.*?)",chain="(.*?)",.*state="(.*?)".*\} 1$/gm;
    const pairs = [...this.#outputs().metrics().matchAll(states)].map(
      ([, protocol, chain, state]) => `${protocol}/${chain} ${state}`,
    );
    const parts = [`${tone}, ${text.split("\n")[0]}`, `exit code ${exitCode}`];
    return [...parts, ...(pairs.length > 4 ? [`${pairs.length} pairs`] : pairs)].join("; ");
  }

  /** The incident in `check`, and its severity in the metrics. */
  #incident(scope: string): readonly string[] {
    const targets = this.#report.targets.filter(({ status }) => status !== "ok").map(({ key }) => key);
    const [protocol, variant, tier, chain] = (targets[0] ?? "").split("/");
    const subjects: Readonly<Record<string, string | undefined>> = {
      endpoint: `${protocol}/${variant}/${tier}`,
      host: "envio.example",
      chain,
    };
    const about = {
      subject: subjects[scope] ?? "all",
      since: isoTime(sample.NOW_MS),
      detail: "It is down",
      targets,
    };
    this.#report = {
      ...this.#report,
      incidents: [{ ...about, kind: "cause", severity: "warning", scope: scope as "host" }],
    };
    const severities = matching(this.#outputs().metrics(), "^synclag_incident_active").map(
      (one) => /severity="\w*"/.exec(one)?.[0] ?? "",
    );
    return [...matching(this.#outputs().check().text, "^Incident"), ...new Set(severities)];
  }

  #health(asked: Readonly<Record<string, string>>): readonly string[] {
    const health = healthJson(this.#report, { protocol: "lockup", chain: "base", ...asked });
    if (health === null) {
      return ["no such targets"];
    }
    const { freshest, healthy, judged_by, targets, why } = health;
    const considered = targets.map(
      (one) => `${one.variant}/${one.tier} ${one.healthy ? "healthy" : "not healthy"}`,
    );
    const best = freshest === null ? "nothing" : `${freshest.variant}/${freshest.tier}`;
    return [
      `${healthy ? "healthy" : "unhealthy"} by ${judged_by}: ${why}`,
      `${considered.join(", ")}; freshest is ${best}`,
    ];
  }
}
