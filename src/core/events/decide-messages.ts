import { HOUR_MS } from "../model/durations.ts";
import type { NotifyRules } from "../model/notify.ts";
import { type Incident, incidentKey, isGone, type Report, type TargetReport } from "../model/report.ts";
import { statusRank } from "../model/statuses.ts";
import { isoTime } from "../model/text.ts";
import { isAtLeast } from "../report/severity.ts";

/**
 * An incident that is running or ended within the last hour, and its messages. It is saved, so that a restart repeats no
 * message.
 */
export interface NotifiedIncident {
  /** The id that all messages about the incident share. */
  readonly id: string;
  /** As of `time`. */
  readonly incident: Incident;
  readonly target_count: number;
  /** The rank of the most urgent status of its targets, as of `time`. */
  readonly rank: number;
  /**
   * Whether a message was sent. `no`: the incident has not lasted long enough; `flapping`: it comes and goes, and one message
   * has said so.
   */
  readonly said: "no" | "yes" | "flapping";
  /** When the last message was sent if `said` is `yes`; else the time of the last report that had the incident. */
  readonly time: string;
  /** When it began, the oldest first. Starts more than an hour before the latest one are dropped. */
  readonly starts: readonly string[];
  /** Null while it runs. */
  readonly ended: string | null;
}

/** A message to send about an incident. */
export interface News {
  readonly event: "began" | "changed" | "ended";
  readonly id: string;
  readonly incident: Incident;
  readonly target_count: number;
  /** How often it began within an hour; 1 unless it comes and goes. */
  readonly times: number;
}

/**
 * An incident that begins for the third time within an hour is likely to come again. One more message is sent about it. After
 * an hour without the incident, the next message says that it has ended.
 */
const FLAPS = 3;
/** The shortest time between two messages about the same running incident. */
const CHANGE_EVERY_MS = 300_000;
/** A message is sent when the number of targets grows by more than this share. */
const NOTABLE_SHARE = 0.25;
/** A message names at most this number of targets, and counts the others. */
const MAX_TARGETS = 100;

/** `news`: the messages to send about a report. `notified`: the incidents to remember, and to pass as `before` next time. */
export function decideMessages(before: readonly NotifiedIncident[], report: Report, rules: NotifyRules) {
  const { generated_at: time, incidents } = report;
  const known = new Map(before.map((one) => [incidentKey(one.incident), one]));
  const byKey = new Map(report.targets.map((target) => [target.key, target]));
  const running = incidents.map((incident): Running => {
    const targets = incident.targets.flatMap((key) => byKey.get(key) ?? []);
    const isRest = before.some((one) => one.said === "yes" && isRestOf(incident, one, time));
    return { incident, targets, former: known.get(incidentKey(incident)) ?? null, isRest };
  });
  const isRunning = new Set(incidents.map(incidentKey));
  const troubled = new Set(incidents.flatMap(({ targets }) => targets));
  const steps = [
    ...running.map((one) =>
      isWanted(one, rules) ? continueIncident(one, time, rules) : { notified: one.former },
    ),
    ...before
      .filter(({ incident }) => !isRunning.has(incidentKey(incident)))
      // If all targets of an incident are in other incidents now, those incidents have their own messages.
      .filter(
        ({ ended, incident: { targets } }) => ended !== null || !targets.every((key) => troubled.has(key)),
      )
      .map((one) => endIncident(one, time)),
  ];
  return {
    notified: steps.flatMap(({ notified }) => notified ?? []),
    news: steps.flatMap(({ news }: Step) => news ?? []),
  };
}

/** The incidents to remember after the clock was set forward by `stepMs`. */
export function shiftNotified(all: readonly NotifiedIncident[], stepMs: number): readonly NotifiedIncident[] {
  const shifted = (time: string) => isoTime(Date.parse(time) + stepMs);
  return all.map((one) => ({
    ...one,
    incident: { ...one.incident, since: shifted(one.incident.since) },
    time: shifted(one.time),
    starts: one.starts.map(shifted),
    ended: one.ended === null ? null : shifted(one.ended),
  }));
}

/** The message that an incident is over, for readers of its earlier messages. */
export function endOf(notified: NotifiedIncident): News {
  return newsOf("ended", notified);
}

interface Running {
  readonly incident: Incident;
  readonly targets: readonly TargetReport[];
  readonly former: NotifiedIncident | null;
  /** Whether it is the rest of a wider incident, which had a message. */
  readonly isRest: boolean;
}

function isRestOf(
  { since, targets }: Incident,
  { ended, incident: wider }: NotifiedIncident,
  time: string,
): boolean {
  return (
    wider.targets.length > targets.length &&
    targets.every((key) => wider.targets.includes(key)) &&
    (ended ?? time) >= since
  );
}

interface Step {
  /** Null: nothing needs to be kept. */
  readonly notified: NotifiedIncident | null;
  readonly news?: News;
}

/**
 * Whether the rules want messages that this incident began or changed. A target that is gone after its end is worth a message,
 * but not an alert.
 */
function isWanted({ incident, targets }: Running, rules: NotifyRules): boolean {
  const isGoneAtEnd = targets.some(isGone) && rules.severity === "warning";
  return (
    (isAtLeast(incident.severity, rules.severity) || isGoneAtEnd) &&
    // A target that the report does not have was removed from chains.yaml.
    (targets.length < incident.targets.length ||
      targets.some(
        (target) =>
          (!target.maintenance || isGone(target)) &&
          (rules.protocols?.includes(target.protocol) ?? true) &&
          (rules.tiers?.includes(target.tier) ?? true),
      ))
  );
}

function continueIncident(running: Running, time: string, rules: NotifyRules): Step {
  const { former, incident, targets } = running;
  const isStart = former === null || former.ended !== null;
  const recent = (former?.starts ?? []).filter((start) => Date.parse(time) - Date.parse(start) < HOUR_MS);
  const starts = isStart ? [...recent, incident.since] : former.starts;
  const now: NotifiedIncident = {
    id: `${incidentKey(incident)} ${incident.since}`,
    incident: { ...incident, targets: incident.targets.slice(0, MAX_TARGETS) },
    target_count: incident.targets.length,
    rank: Math.max(0, ...targets.map(({ status }) => statusRank(status))),
    ...{ said: "no", time, starts, ended: null },
  };
  if (former?.said === "flapping") {
    return { notified: { ...now, id: former.id, said: "flapping" } };
  }
  if (isStart || former.said === "no") {
    const isFlapping = starts.length >= FLAPS;
    return isFlapping || isReady(running, time, rules)
      ? say("began", { ...now, said: isFlapping ? "flapping" : "yes" })
      : { notified: now };
  }
  return isWorse(former, now) ? say("changed", { ...now, said: "yes" }) : { notified: former };
}

function endIncident(one: NotifiedIncident, time: string): Step {
  if (one.ended === null) {
    const notified = { ...one, ended: time };
    return one.said === "yes" ? say("ended", notified) : { notified };
  }
  const isOver = Date.parse(time) - Date.parse(one.ended) >= HOUR_MS;
  if (!isOver) {
    return { notified: one };
  }
  return one.said === "flapping" ? { ...say("ended", one), notified: null } : { notified: null };
}

function say(event: News["event"], notified: NotifiedIncident): Required<Step> {
  return { notified, news: newsOf(event, notified) };
}

function newsOf(event: News["event"], { id, incident, said, starts, target_count }: NotifiedIncident): News {
  return { event, id, incident, target_count, times: said === "flapping" ? starts.length : 1 };
}

/**
 * Whether the first message is due. A shared cause, and a pair whose variants are all down, affect many users: their message is
 * sent at once. Any other message waits for `afterMs`, because the target may recover. If the data are already late, the wait
 * is shorter by their lag, unless the message of a wider incident has already named the target.
 */
function isReady({ incident, isRest, targets }: Running, time: string, { afterMs }: NotifyRules): boolean {
  const { kind, severity, since } = incident;
  if (kind === "cause" || (severity === "critical" && incident.targets.length > 1)) {
    return true;
  }
  const nowMs = Date.parse(time);
  const lateMs = (isRest ? [] : targets).flatMap(({ lag_seconds: lag, last_advance: advance, status }) => [
    (lag ?? 0) * 1_000,
    status === "stalled" && advance !== null ? nowMs - Date.parse(advance) : 0,
  ]);
  return Math.max(nowMs - Date.parse(since), ...lateMs) >= afterMs;
}

/**
 * Whether the incident became worse since the last message: it is more severe, has notably more targets, or has another trouble
 * that is at least as urgent. Always false within five minutes of that message.
 */
function isWorse(before: NotifiedIncident, now: NotifiedIncident): boolean {
  const troubleOf = ({ incident }: NotifiedIncident) =>
    incident.detail.replaceAll(/^[\d,]+ of [\d,]+ | on [^:]*$/g, "");
  const isOther = troubleOf(now) !== troubleOf(before) && now.rank >= before.rank;
  const hasGrown = now.target_count > before.target_count * (1 + NOTABLE_SHARE);
  const isMoreSevere =
    now.incident.severity !== before.incident.severity &&
    isAtLeast(now.incident.severity, before.incident.severity);
  return (
    (isMoreSevere || isOther || hasGrown) && Date.parse(now.time) - Date.parse(before.time) >= CHANGE_EVERY_MS
  );
}
