import { LocalBudgets } from "../../src/budgets/gate.ts";
import type { parseConfig } from "../../src/config/parse.ts";
import { decideMessages } from "../../src/core/events/decide-messages.ts";
import type { Event } from "../../src/core/events/event.ts";
import type { Report } from "../../src/core/model/report.ts";
import { Daemon, type DaemonOptions } from "../../src/daemon/daemon.ts";
import { startReportLoop } from "../../src/daemon/report-loop.ts";
import { EventStore } from "../../src/daemon/state/event-store.ts";
import { HistoryStore } from "../../src/daemon/state/history-store.ts";
import { STATE_DELAY_MS, STATUS_DELAY_MS, type StateStore } from "../../src/daemon/state/store.ts";
import type { SavedState } from "../../src/io/state/file.ts";
import { DebouncedWriter } from "../../src/io/state/writer.ts";
import type { World } from "../../src/io/world.ts";
import { messageOf } from "../../src/views/wording/notification.ts";

/** A daemon of a scenario, and what it keeps. */
export interface Running extends AsyncDisposable {
  readonly daemon: Daemon;
  readonly budgets: LocalBudgets;
  readonly history: HistoryStore;
  readonly events: EventStore;
  /** The state on the disk. */
  readonly written: () => SavedState | null;
}

/** What the state file would contain now. */
export function savedBy(daemon: Daemon, budgets: LocalBudgets | undefined): SavedState {
  const saved = { savedAtMs: Date.now(), ...daemon.save(), budgets: budgets?.save() };
  return JSON.parse(JSON.stringify(saved)) as SavedState;
}

/** Starts the real daemon on a state, and keeps in memory what it writes. */
export async function startDaemon(
  config: ReturnType<typeof parseConfig>,
  kept: {
    readonly world: World;
    readonly openClient: NonNullable<DaemonOptions["openClient"]>;
    readonly disk: SimulatedDisk;
    readonly restored: StateStore["restored"];
    readonly past: readonly Event[];
    /** Gets the text of each message that would be posted. */
    readonly onPosted: (text: string) => void;
  },
): Promise<Running> {
  const { world, disk, restored, past, onPosted, openClient } = kept;
  const budgets = new LocalBudgets(config.fleet, restored.budgets, world);
  const store: StateStore = {
    budgets: budgets.budgets,
    nowMs: budgets.nowMs,
    restored,
    touch: () => writer.touch(),
    touchSoon: () => writer.touch(STATUS_DELAY_MS),
    touchJournal: () => undefined,
    problem: () => disk.problem(),
    flush: () => disk.flush(),
    publishUrl: () => Promise.resolve(),
    assertHeld: () => Promise.resolve(),
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
  let written: SavedState | null = null;
  const writer = new DebouncedWriter({
    delayMs: STATE_DELAY_MS,
    write: () => {
      written = savedBy(daemon, budgets);
      return Promise.resolve();
    },
    onFailure: world.onBug,
    onRecovery: () => undefined,
  });
  const daemon = new Daemon(config, { world, store, openClient });
  daemon.startPolling();
  const history = await HistoryStore.open(world);
  const events = await EventStore.open(world);
  events.log.replace(past);
  events.started("synclag", restored.aliveMs);
  const note = (report: Report): void => {
    if (daemon.config.notify !== null) {
      const { news, notified } = decideMessages(daemon.notified, report, daemon.config.notify);
      daemon.keepNotified(notified);
      news.forEach((one) => void onPosted(messageOf(one, report, "http://synclag.test").text));
    }
  };
  const reports = startReportLoop(daemon, history, events, { note }, world);
  return {
    daemon,
    events,
    budgets,
    history,
    written: () => written,
    async [Symbol.asyncDispose]() {
      await writer[Symbol.asyncDispose]();
      await reports[Symbol.asyncDispose]();
      await history[Symbol.asyncDispose]();
      await daemon[Symbol.asyncDispose]();
    },
  };
}

export type DiskState = "works" | "full" | "hangs";

/** The journal that records the budgets before a request is sent. */
export class SimulatedDisk {
  #state: DiskState = "works";
  #waiting: (() => void)[] = [];

  set(state: DiskState): void {
    this.#state = state;
    for (const write of state === "hangs" ? [] : this.#waiting.splice(0)) {
      write();
    }
  }

  problem(): string | null {
    return this.#state === "full" ? "the disk is full" : null;
  }

  async flush(): Promise<void> {
    if (this.#state === "hangs") {
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
  }
}
