import type { News } from "../../core/events/decide-messages.ts";
import { targetName, variantName } from "../../core/model/fleet.ts";
import type { NotifyFormat } from "../../core/model/notify.ts";
import type { Report } from "../../core/model/report.ts";
import { formatClock, formatDuration, formatList } from "../../core/model/text.ts";
import { judgeReport } from "../../core/report/severity.ts";
import { chainPath, pairAnchor, targetAnchor } from "./chain-links.ts";
import { describeFailover } from "./incidents.ts";
import {
  describeAlternatives,
  describeMaintenance,
  findProblems,
  idOfKey,
  notableLagMs,
  PAIR_WORDS,
} from "./targets.ts";

/** A message as docs/NOTIFY.md describes it. */
export interface Message {
  readonly version: 1;
  readonly event: string;
  readonly id: string;
  readonly time: string;
  /** For people, in one line. */
  readonly text: string;
  readonly [more: string]: unknown;
}

/** The body of a message in each format. Slack needs the text escaped; Discord and Telegram accept only a certain length. */
export const NOTIFY_BODIES: Readonly<
  Record<
    NotifyFormat,
    (message: Message, chatId: string | null) => Readonly<Record<string, unknown>> | string
  >
> = {
  json: (message) => message,
  slack: ({ text }) => ({
    text: text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;"),
  }),
  discord: ({ text }) => ({ content: cut(text, 2_000), allowed_mentions: { parse: [] } }),
  telegram: ({ text }, chatId) => ({
    chat_id: chatId,
    text: cut(text, 4_096),
    link_preview_options: { is_disabled: true },
  }),
  text: ({ text }) => text,
};

function cut(text: string, most: number): string {
  return text.length <= most ? text : `${text.slice(0, most - 1)}…`;
}

/** The message about an incident. `page`: the URL of Synclag, without a path. */
export function messageOf(news: News, report: Report, page: string): Message {
  const { event, id, incident, target_count, times } = news;
  const { generated_at: time } = report;
  const sinceMs = Date.parse(incident.since);
  const duration = formatDuration(Date.parse(time) - sinceMs);
  const after = event === "began" || times > 1 ? "" : ` after ${duration}`;
  const since = event === "ended" ? "" : ` Since ${formatClock(sinceMs, Date.parse(time))}.`;
  const what = event === "ended" ? endText(news, report) : troubleText(news, report);
  const text = `Incident ${event}${after}: ${what}.${since}${oftenText(news)} ${page}${pathOf(incident)}`;
  return {
    ...{ version: 1, event: `incident_${event}`, id, time },
    // Texts of upstream servers may contain line breaks and control characters.
    text: text.replace(/[\p{Cc}\p{Cf}]+/gu, " "),
    incident: { ...incident, target_count, times },
  };
}

/** The path for an incident: the page of its chain, at its target or pair; `/` if it has several chains or none. */
function pathOf({ kind, subject, targets }: News["incident"]): string {
  const [slug, ...others] = slugsOf({ targets });
  if (slug === undefined || others.length > 0) {
    return "/";
  }
  const anchors = {
    cause: "",
    pair: `#${pairAnchor(subject.split("/")[0] ?? "")}`,
    target: `#${targetAnchor(idOfKey(subject))}`,
  };
  return `${chainPath(slug)}${anchors[kind]}`;
}

function oftenText({ event, times }: News): string {
  if (times === 1) {
    return "";
  }
  return event === "ended"
    ? " It came and went, and has not come back for an hour."
    : ` It began ${times} times within an hour; the next message comes when it has been over for an hour.`;
}

/** What is wrong, on which chain, how late the data are, and which variants are ok. */
function troubleText({ incident }: News, report: Report): string {
  const keys = new Set(incident.targets);
  const own = findProblems(report).filter(({ target }) => keys.has(target.key));
  const [only] = own;
  if (keys.size === 1 && only !== undefined) {
    const { detail, status } = only.target;
    return `${targetName(only.target)}, ${status}: ${detail}; ${describeAlternatives(only)}`;
  }
  const slugs = slugsOf(incident);
  const disputes = report.chains.flatMap(({ dispute, slug }) =>
    slugs.has(slug) && dispute !== null ? dispute : [],
  );
  const statuses = own.map(({ target }) => `${variantName(target)} ${target.status}`);
  const isPair = incident.kind === "pair" && statuses.length > 0;
  const trouble = `${incident.detail}${isPair ? `: ${formatList(statuses)}` : ""}`;
  return [trouble, ...disputes, describeFailover(incident, own)].filter((text) => text !== "").join("; ");
}

/** The present state of the target or the pair, else what has ended. */
function endText({ incident, target_count: count }: News, report: Report): string {
  const known = report.targets.filter(({ key }) => incident.targets.includes(key));
  if (known.length === 0 && incident.kind !== "cause") {
    const name = incident.kind === "target" ? targetName({ key: incident.subject }) : incident.subject;
    return `${name} is no longer in chains.yaml`;
  }
  const [target] = known;
  if (count === 1 && target !== undefined) {
    const lagMs = notableLagMs(target);
    const nowMs = Date.parse(report.generated_at);
    const status = describeMaintenance(target, nowMs) ?? target.status;
    return `${targetName(target)} is ${status}${lagMs === null ? "" : `, ${formatDuration(lagMs)} behind`}`;
  }
  const pair = judgeReport(report).pairs.find(
    ({ chain, protocol }) => incident.subject === `${protocol}/${chain.slug}`,
  );
  return incident.kind === "pair" && pair !== undefined
    ? `${incident.subject} is ${PAIR_WORDS[pair.state][0]}`
    : incident.detail;
}

function slugsOf({ targets }: Pick<News["incident"], "targets">): ReadonlySet<string> {
  return new Set(targets.map((key) => key.split("/").at(-1) ?? ""));
}
