import { type Event, targetsOf } from "../core/events/event.ts";
import { EventLog } from "../core/events/event-log.ts";
import { LATEST_MS } from "../core/model/observation.ts";
import { formatCount, isoTime } from "../core/model/text.ts";
import { whyFailed } from "../core/model/why-failed.ts";
import { eventsPathOf, readEvents } from "../daemon/state/event-store.ts";
import { EventsSchema } from "../views/api/api-schema.ts";
import { matcherOf, selectEvents } from "../views/api/events.ts";
import { QUERIES, readSpanQuery } from "../views/api/queries.ts";
import { withQuery } from "../views/page/links.ts";
import { renderEventsTable } from "../views/terminal/tables.ts";
import { askDaemon } from "./ask-daemon.ts";
import { CommandError, type CommandWorld, EXIT, type Flags } from "./command-world.ts";
import { defaultStateFile } from "./load-config.ts";

/**
 * `synclag events`: the events in the file beside the state file, or of a running daemon.
 *
 * @throws {CommandError} If an option is invalid or the events cannot be read.
 */
export async function events(
  { config, url, state, format, since, limit, kind, status }: Flags,
  world: CommandWorld,
  filters: readonly string[],
): Promise<number> {
  const now = isoTime(world.nowMs());
  const asked = { from: since, limit, kind, status };
  const queries = (filters.length === 0 ? [""] : filters).map((filter) => {
    const [protocol, chain, variant, tier] = filter.split("/");
    const query = readSpanQuery(QUERIES.events, { ...asked, protocol, chain, variant, tier }, now);
    if (typeof query === "string") {
      throw new CommandError(query.replace("Cannot use ", "$&--").replace("--from", "--since"));
    }
    // The clock of the daemon may be ahead of ours, so the interval has no end.
    return { ...query, to: isoTime(LATEST_MS) };
  });
  const path = eventsPathOf(state ?? defaultStateFile(config));
  const log = new EventLog();
  log.replace(url === undefined ? readFile(path, world) : await askFor(url, asked, world));
  const all = url === undefined ? log.all() : [];
  for (const [index, query] of queries.entries()) {
    const matches = matcherOf(query, new Map());
    // The file has all events that are kept, so a mistyped name must not look like a quiet target.
    if (all.length > 0 && !all.some((event) => matches.targets(targetsOf(event)))) {
      const about = `none of ${formatCount(all.length, "event")} is about ${filters[index]}`;
      world.err(`warning: ${about}; a filter is protocol/chain/variant/tier or its beginning`);
    }
  }
  const found = [...new Set(queries.flatMap((query) => selectEvents(log, query, new Map())))];
  const latest = found
    .sort((a, b) => Number(a.time < b.time) - Number(a.time > b.time))
    .slice(0, Number(limit));
  const json = { from: queries[0]?.from ?? now, total: found.length, events: latest };
  world.out(
    format === "json"
      ? JSON.stringify(json, null, 2)
      : renderEventsTable(latest, found.length, world.nowMs()),
  );
  return EXIT.ok;
}

/** The events in a file. @throws {CommandError} If the file cannot be read. */
function readFile(path: string, world: CommandWorld): readonly Event[] {
  try {
    const { events: found, invalid } = readEvents(world.readFile(path));
    if (invalid > 0) {
      world.err(`${path}: warning: left out ${formatCount(invalid, "line")} that cannot be read as events`);
    }
    return found;
  } catch (error) {
    const advice = "start `synclag run`, name its state file with --state, or ask a daemon with --url";
    throw new CommandError(`Cannot read the events file ${path}: ${whyFailed(error)}; ${advice}`, {
      cause: error,
    });
  }
}

/** The events of a daemon, oldest first; the caller filters them by target. @throws {CommandError} If the daemon cannot be asked. */
async function askFor(
  url: string,
  asked: Readonly<Record<string, string | undefined>>,
  world: CommandWorld,
): Promise<readonly Event[]> {
  const path = withQuery("/api/v1/events", { ...asked, limit: "10000" });
  const { answer } = await askDaemon(path, EventsSchema, url, world);
  return answer.events.toReversed();
}
