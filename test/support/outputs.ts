import { parseDuration } from "../../src/config/quantities.ts";
import { EventLog } from "../../src/core/events/event-log.ts";
import type { EndpointRecord } from "../../src/core/model/exchange.ts";
import type { MetricsSource } from "../../src/core/model/metrics-source.ts";
import {
  type ChainReport,
  chainReports,
  type Report,
  type TargetReport,
} from "../../src/core/model/report.ts";
import { formatCount } from "../../src/core/model/text.ts";
import { expositionText } from "../../src/metrics/exposition.ts";
import { METRIC_FAMILIES } from "../../src/metrics/families.ts";
import { renderChainPage } from "../../src/views/page/chain.ts";
import type { PageOptions } from "../../src/views/page/shell.ts";
import { renderStatusPage } from "../../src/views/page/status.ts";
import { checkExitCode, renderCheckTable, selectForCheck } from "../../src/views/terminal/check.ts";
import { lagText } from "./lag-text.ts";

export const TEST_VERSION = "0.0.0-test";
export const PAGE: PageOptions = {
  assets: { styles: "", headerScript: "", script: "", plotStyles: "", plotLibrary: "", plotScript: "" },
  version: TEST_VERSION,
  links: { alertmanager: null, grafana: null, runbooks: null },
  events: new EventLog(),
  view: { q: "", sort: "", range: "" },
};

/** In most fleets, further chains say the same. */
const MOST_STANDINGS = 3;

/** What Synclag says about a fleet, as its users read it. */
export abstract class Outputs {
  /** The reply of `/api/v1/status`. */
  abstract report(): Report;

  /** The values that `/metrics` is written from. */
  abstract metricsSource(): MetricsSource;

  /** The events; empty if the implementation keeps none. */
  protected eventLog(): EventLog {
    return PAGE.events;
  }

  protected abstract endpointRecords(chain: string): readonly EndpointRecord[];

  /** The target of this name: whole segments of its key, `protocol/variant/tier/chain`. */
  target(name: string): TargetReport {
    const found = this.report().targets.filter(({ key }) => isNamed(key, name));
    return theOne(found, `target ${name}`);
  }

  /** The chain of this slug; left out: the only one. */
  chain(slug?: string): ChainReport {
    const all = chainReports(this.report());
    return theOne(slug === undefined ? all : all.filter((one) => one.slug === slug), `chain ${slug ?? ""}`);
  }

  /** The text of the status page, or of a chain's page, without markup. */
  page(chain?: string): string {
    const options = { ...PAGE, events: this.eventLog() };
    const html =
      chain === undefined
        ? renderStatusPage(this.report(), options)
        : renderChainPage(this.report(), chain, this.endpointRecords(chain), options);
    return textOf(html ?? "");
  }

  /** The text of `/metrics`, without the metrics of the process. */
  metrics(): string {
    return expositionText(METRIC_FAMILIES, this.metricsSource());
  }

  /** One line for each of the first chains: it counts the targets at the head, and names the others. */
  standings(): readonly string[] {
    const chains = chainReports(this.report());
    const lines = chains.slice(0, MOST_STANDINGS).map(({ reference, slug, targets }) => {
      const others = targets.filter(({ lag_blocks, status }) => status !== "ok" || lag_blocks !== 0);
      const named = others.map((target) => {
        const { lag_blocks, protocol, status, tier, variant } = target;
        const lag = lag_blocks === null ? "" : `, ${lagText(target)}`;
        return `${protocol}/${variant}/${tier} ${status}${lag}`;
      });
      const atHead = `${targets.length - others.length} of ${targets.length} at the head`;
      const said = reference === null ? "no reference" : atHead;
      return `end: ${slug}, ${[said, ...named].join("; ")}`;
    });
    const others = chains.length - lines.length;
    return others > 0 ? [...lines, `end: ${formatCount(others, "more chain")}`] : lines;
  }

  /** What `synclag check` prints when it asks this daemon, and its exit code. */
  check(...filters: readonly string[]): { readonly text: string; readonly exitCode: number } {
    const unfiltered = this.report();
    const selected = selectForCheck(unfiltered, filters);
    if (selected.errors.length > 0) {
      return { text: selected.errors.join("\n"), exitCode: 3 };
    }
    const options = {
      unfiltered,
      selections: selected.selections,
      color: "none",
      widthColumns: null,
      statusesUrl: "docs/statuses.md",
    } as const;
    const text = renderCheckTable(selected.json, options);
    return { text, exitCode: checkExitCode(selected.json, selected.selections) };
  }
}

function theOne<Found>([found, ...others]: readonly Found[], name: string): Found {
  if (found === undefined || others.length > 0) {
    throw new RangeError(`Cannot find one ${name}: found ${found === undefined ? 0 : 1 + others.length}`);
  }
  return found;
}

/** Milliseconds of a time such as `10m`, or `-1h`. */
export function msOf(duration: string): number {
  const ms = duration === "0s" ? 0 : parseDuration(duration.replace(/^-/, ""));
  if (ms === null) {
    throw new RangeError(`Cannot read duration ${duration}: expected one such as 30s or 10m`);
  }
  return duration.startsWith("-") ? -ms : ms;
}

/** Whether a key has these whole segments, e.g. `a/b/c/d` has `b/c`, and `b/(c|x)`. */
export function isNamed(key: string, name: string): boolean {
  return new RegExp(`(^|/)${name}($|/)`).test(key);
}

/** Begins the line with the headers of a table. */
export const COLUMNS = "Columns: ";

/** The text of a page as a reader sees it, with a line for each block, and `|` between the cells of a table. */
export function textOf(html: string): string {
  return html
    .replace(/\s+/g, " ")
    .replace(/<(script|style|template)\b.*?<\/\1>/gs, "")
    .replace(/<thead>\s*<tr>/g, `\n${COLUMNS}`)
    .replace(/<\/t[hd]>\s*(?=<t[hd]\b)/g, " | ")
    .replace(
      /<(?:br|\/?(?:p|div|li|h\d|tr|section|article|header|footer|details|summary|dt|dd|table|form|nav|ul|ol|dl|pre))\b[^>]*>/g,
      "\n",
    )
    .replaceAll("<wbr>", "")
    .replace(/<[^>]+>/g, " ")
    .replace(/&(amp|lt|gt|quot|#39);/g, (_, name: string) => ENTITIES[name] ?? "")
    .split("\n")
    .map((line) => line.replace(/\s+/g, " ").trim())
    .filter((line) => line !== "")
    .join("\n");
}

const ENTITIES: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', "#39": "'" };
