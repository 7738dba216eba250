import type { Event } from "../../core/events/event.ts";
import { formatClock, formatCount } from "../../core/model/text.ts";
import { eventWords } from "../wording/events.ts";
import { type Columns, renderTextTable } from "./text-table.ts";

const COLUMNS: Columns = { TIME: "left", WHAT: "left", CHANGE: "left", DETAIL: "left" };

/** What `synclag events` prints: a line for each event, the latest last, as in a log. `total`: how many there are. */
export function renderEventsTable(events: readonly Event[], total: number, nowMs: number): string {
  if (events.length === 0) {
    return "Nothing happened in that time";
  }
  const rows = events.toReversed().map((event) => {
    const { what, change, detail } = eventWords(event, (slug) => slug);
    return [formatClock(Date.parse(event.time), nowMs), what, change, detail];
  });
  const more =
    total > events.length
      ? [`The latest ${events.length} of ${formatCount(total, "event")}: see --limit`]
      : [];
  return [...renderTextTable(COLUMNS, rows), ...more].join("\n");
}
