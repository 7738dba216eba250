import type { Event } from "../../core/events/event.ts";
import { variantName } from "../../core/model/fleet.ts";
import { incidentOfKey, type Report } from "../../core/model/report.ts";
import { formatDuration } from "../../core/model/text.ts";
import { incidentTitle } from "./incidents.ts";

/** An event for people: what it happened to, such as `lockup subgraph on Base`, `ok → stalled`, and more, which may be empty. */
export function eventWords(event: Event, chainName: (slug: string) => string) {
  const { kind, subject, from, to, lag_seconds: lag } = event;
  const detail = event.detail ?? "";
  const late = lag === null || to !== "lagging" ? "" : `${formatDuration(lag * 1_000)} behind`;
  switch (kind) {
    case "status":
      return {
        what: targetName(subject, chainName),
        change: `${from} → ${to}`,
        detail: [late, detail].filter((part) => part !== "").join("; "),
      };
    case "pair": {
      const [protocol = "", chain = ""] = subject.split("/");
      return { what: `${protocol} on ${chainName(chain)}`, change: `${from} → ${to}`, detail };
    }
    case "incident": {
      const title = incidentTitle({ ...incidentOfKey(subject), detail });
      return { what: "Incident", change: to, detail: title };
    }
    case "parity": {
      const [probe = "", key = "", against = ""] = subject.split(" ");
      const other = against.split("/")[1] ?? "";
      return {
        what: targetName(key, chainName),
        change: `data ${to}`,
        detail: `probe ${probe}, against ${other}: ${detail}`,
      };
    }
    case "deployment":
      return {
        what: targetName(subject, chainName),
        change: "deployment changed",
        detail: `${from} → ${to}`,
      };
    case "process":
      return {
        what: subject === "synclag" ? "Synclag" : `Synclag ${subject}`,
        change: to,
        detail: unwatchedText(event),
      };
  }
}

function unwatchedText({ time, unwatched_since: since }: Event): string {
  return since === null
    ? ""
    : `nothing was polled for ${formatDuration(Date.parse(time) - Date.parse(since))}`;
}

function targetName(key: string, chainName: (slug: string) => string): string {
  const [protocol = "", variant = "", tier = "", chain = ""] = key.split("/");
  return `${protocol} ${variantName({ variant, tier })} on ${chainName(chain)}`;
}

/** The names of the chains of a report; one that is no longer configured is named by its slug. */
export function chainNames({ chains }: Pick<Report, "chains">): (slug: string) => string {
  const names = new Map(chains.map(({ slug, name }) => [slug, name]));
  return (slug) => names.get(slug) ?? slug;
}
