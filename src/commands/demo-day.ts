import type { Config } from "../config/config.ts";
import { eventOf } from "../core/events/event.ts";
import { EventLog } from "../core/events/event-log.ts";
import { DAY_MS, MINUTE_MS } from "../core/model/durations.ts";
import { isoTime } from "../core/model/text.ts";
import { Daemon } from "../daemon/daemon.ts";
import { HistoryStore } from "../daemon/state/history-store.ts";
import { openStateStore } from "../daemon/state/store.ts";
import type { HttpClient } from "../io/http-client/client.ts";
import type { Past, World } from "../io/world.ts";
import { PLAYED_INTERVAL_SEC } from "../sim/fleet/demo-config.ts";
import type { SimulatedFleet } from "../sim/fleet/simulated-fleet.ts";
import type { Step } from "../sim/scenarios/scenario.ts";

const PLAYED = "this day was played in virtual time";

interface Day {
  /** Sets the clock of the fleet. */
  readonly setClock: (nowMs: number) => void;
  readonly world: Omit<World, "loadConfig">;
}

/**
 * Runs the daemon through the last 24 hours in virtual time, against the simulated fleet but without its servers, and returns
 * the events and the history of the daemon. A day takes seconds: time jumps from one sample of the plots to the next.
 */
export async function playDay(
  config: Config,
  fleet: SimulatedFleet,
  steps: readonly Step[],
  { setClock, world: real }: Day,
): Promise<Past> {
  const endMs = real.nowMs();
  const startMs = endMs - DAY_MS;
  let playedMs = startMs;
  const nowMs = () => playedMs;
  const logger = real.logger.child({}, { level: "silent" });
  const world = { ...real, logger, nowMs, monotonicMs: nowMs, uptimeMs: nowMs, stateFile: null };
  await using store = await openStateStore(null, config.fleet, {
    world,
    state: () => daemon.save(),
    onLockLost: real.onBug,
  });
  await using daemon: Daemon = new Daemon(config, { world, store, openClient: () => clientOf(fleet, nowMs) });
  await using history = await HistoryStore.open(world);
  const log = new EventLog();
  log.add(
    eventOf({ time: isoTime(startMs), kind: "process", subject: "synclag", to: "started", detail: PLAYED }),
  );
  let next = 0;
  for (const atMs of samplesUntil(endMs)) {
    playedMs = atMs;
    setClock(atMs);
    for (; (steps[next]?.atSec ?? Number.POSITIVE_INFINITY) * 1_000 <= atMs - startMs; next += 1) {
      await steps[next]?.happens(fleet, 1);
    }
    if ((atMs - startMs) % (PLAYED_INTERVAL_SEC * 1_000) === 0) {
      await daemon.checkOnce();
    }
    const report = daemon.decideIncidents();
    log.note(report, true);
    await history.record(report);
  }
  return { events: log.all(), history: new Map(history.save()) };
}

/** The times at which the plots need a sample: every five minutes, and every minute of the last two hours. */
function samplesUntil(endMs: number): readonly number[] {
  const minutes = Array.from({ length: DAY_MS / MINUTE_MS }, (_, index) => DAY_MS / MINUTE_MS - index);
  return minutes.filter((left) => left <= 120 || left % 5 === 0).map((left) => endMs - left * MINUTE_MS);
}

/** A client that asks the simulated fleet without a socket. Each request takes no time. */
function clientOf(fleet: SimulatedFleet, nowMs: () => number): HttpClient {
  const endpoints = new Map(fleet.allEndpoints.map((endpoint) => [endpoint.url, endpoint]));
  return {
    async post({ url, headers, body }) {
      const { origin, pathname: path } = new URL(url);
      const endpoint = endpoints.get(`${origin}${path}`);
      const times = { sentAtMs: nowMs(), receivedAtMs: nowMs() };
      if (endpoint === undefined) {
        return { ...times, kind: "failed", reason: "connect", detail: `no simulated endpoint has ${url}` };
      }
      const named = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value] as const);
      const sent = { "content-type": "application/json", ...Object.fromEntries(named) };
      const text = typeof body === "string" ? body : JSON.stringify(body);
      const call = {
        method: body === null ? "GET" : "POST",
        path,
        headers: sent,
        body: body === null ? "" : text,
      };
      const { status: httpStatus, headers: own, body: replied } = endpoint.answer(endpoint.receive(call));
      return {
        ...times,
        kind: "replied",
        reply: { httpStatus, retryAfter: own["retry-after"] ?? null, body: replied },
      };
    },
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
}
