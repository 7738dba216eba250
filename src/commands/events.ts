import type { Event } from "../core/events/event.ts";
import { EventLog } from "../core/events/event-log.ts";
import { isoTime } from "../core/model/text.ts";
import { eventsPathOf, readEvents } from "../io/state/events-file.ts";
import { whyUnreadable } from "../io/system-error.ts";
import {
  type EventQuery,
  EventsSchema,
  type Query,
  readEventQuery,
  selectEvents,
} from "../views/api/events.ts";
import { renderEventsTable } from "../views/terminal/events-table.ts";
import { CommandError, type CommandWorld, EXIT } from "./command-world.ts";
import { defaultStateFile } from "./load-config.ts";
import { askDaemonFor } from "./status-result.ts";

export interface EventsFlags {
  readonly config: string;
  readonly url?: string;
  readonly state?: string;
  readonly from: string;
  readonly to?: string;
  readonly limit: string;
  readonly kind?: string;
  readonly protocol?: string;
  readonly chain?: string;
  readonly variant?: string;
  readonly status?: string;
  readonly format: "table" | "json";
}

/**
 * `synclag events`: what happened, from the file beside the state file, or from a running daemon.
 *
 * @throws {CommandError} If the events cannot be read, or are not asked for as they can be.
 */
export async function events(
  { config, url, state, format, ...asked }: EventsFlags,
  world: CommandWorld,
): Promise<number> {
  const nowMs = world.nowMs();
  const query = readEventQuery(asked, nowMs, { fromMs: 0, limit: 0 });
  if (typeof query === "string") {
    throw new CommandError(query);
  }
  const { total, events: list } =
    url === undefined
      ? inFile(state ?? defaultStateFile(config), query, world)
      : await askFor(url, asked, world);
  const json = { from: isoTime(query.fromMs), to: isoTime(query.toMs), total, events: list };
  world.out(format === "json" ? JSON.stringify(json, null, 2) : renderEventsTable(list, total, nowMs));
  return EXIT.ok;
}

interface Found {
  readonly total: number;
  readonly events: readonly Event[];
}

function inFile(stateFile: string, query: EventQuery, world: CommandWorld): Found {
  const found = selectEvents(readLog(eventsPathOf(stateFile), world), query, new Map());
  return { total: found.length, events: found.slice(0, query.limit) };
}

/** @throws {CommandError} If there is no such file. */
function readLog(path: string, world: CommandWorld): EventLog {
  const log = new EventLog();
  try {
    log.restore(readEvents(world.readFile(path)).events);
  } catch (error) {
    const advice = "start `synclag run`, name its state file with --state, or ask a daemon with --url";
    throw new CommandError(`Cannot read the events file ${path}: ${whyUnreadable(error)}; ${advice}`, {
      cause: error,
    });
  }
  return log;
}

/** @throws {CommandError} If the daemon cannot be asked. */
async function askFor(url: string, asked: Query, world: CommandWorld): Promise<Found> {
  const named = Object.entries(asked).map(([name, value]) => `${name}=${encodeURIComponent(String(value))}`);
  const path = `/api/v1/events?${named.join("&")}`;
  const { data } = EventsSchema.safeParse(await askDaemonFor(path, url, world));
  if (data === undefined) {
    throw new CommandError(`Cannot read the events of ${new URL(url).origin}: it may be an older Synclag`);
  }
  return data;
}
