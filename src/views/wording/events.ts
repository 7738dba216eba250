import type { Event } from "../../core/events/event.ts";
import { targetName } from "../../core/model/fleet.ts";
import { incidentOfKey, type Report } from "../../core/model/report.ts";
import { formatDuration } from "../../core/model/text.ts";
import { incidentTitle } from "./incidents.ts";

/**
 * An event in words: its subject, such as `lockup/base/subgraph`, the change, such as `ok → stalled`, and a detail, which may
 * be empty.
 */
export function eventWords(event: Event) {
  const { kind, subject, from, to, time, unwatched_since: since } = event;
  const detail = event.detail ?? "";
  const change = from === null ? to : `${from} → ${to}`;
  const nameOf = (key: string) => targetName({ key });
  switch (kind) {
    case "status":
      return { what: nameOf(subject), change, detail };
    case "pair":
      return { what: subject, change, detail };
    case "incident":
      return { what: "Incident", change: to, detail: incidentTitle({ ...incidentOfKey(subject), detail }) };
    case "parity": {
      const [probe, key = "", against = ""] = subject.split(" ");
      const compared = `probe ${probe}, against ${against.split("/")[1]}`;
      const why = detail === "" ? compared : `${compared}: ${detail}`;
      return { what: nameOf(key), change: `data ${to}`, detail: why };
    }
    case "deployment":
      return { what: nameOf(subject), change: "deployment changed", detail: change };
    case "process": {
      const gapMs = since === null ? null : Date.parse(time) - Date.parse(since);
      const gap = gapMs === null || gapMs < 1_000 ? "" : `nothing was polled for ${formatDuration(gapMs)}`;
      return {
        what: subject === "synclag" ? "Synclag" : `Synclag ${subject}`,
        change: to,
        detail: event.detail ?? gap,
      };
    }
  }
}

/** The names of the chains of a report; a chain that is no longer configured is named by its slug. */
export function chainNames({ chains }: Pick<Report, "chains">): (slug: string) => string {
  const names = new Map(chains.map(({ slug, name }) => [slug, name]));
  return (slug) => names.get(slug) ?? slug;
}
