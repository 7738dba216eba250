import { lastFiringMs } from "../schedule/firing-times.ts";

export interface CronOptions {
  /** Six-field expressions, seconds first, in UTC, where no day has 23 hours; one that repeats counts once. */
  readonly expressions: readonly string[];
  /** Called with all expressions that are due, at most once a second. */
  readonly onDue: (expressions: ReadonlySet<string>) => void;
  /** Called each second: the heartbeat behind `/-/healthy`. */
  readonly onTick: () => void;
  /** Receives what a callback throws; the schedule continues. */
  readonly onBug: (error: unknown) => void;
}

/**
 * A larger step back of the clock is followed at once; after a smaller one nothing is due until it has
 * passed.
 */
const LONGEST_WAIT_SEC = 5;
/** After a sleep of the machine, older firings than this are not made up for. */
const LONGEST_CATCH_UP_SEC = 3_600;

/**
 * Starts the schedules: one ticker for all of them, since what is due together is polled together. Disposing stops it.
 *
 * Seconds that a blocked or suspended process missed stand for one firing of every expression that was due in them.
 */
export function startCron({ expressions, onDue, onTick, onBug }: CronOptions): Disposable {
  const crons = [...new Set(expressions)];
  let lastSec = currentSec();
  let timer = setTimeout(tick, msToNextSecond());

  function tick(): void {
    timer = setTimeout(tick, msToNextSecond());
    const nowSec = currentSec();
    const wasPutBack = nowSec < lastSec - LONGEST_WAIT_SEC;
    const fromSec = wasPutBack ? nowSec - 1 : Math.max(lastSec, nowSec - LONGEST_CATCH_UP_SEC);
    runGuarded(onTick, onBug);
    if (fromSec < nowSec) {
      lastSec = nowSec;
      const missedMs = (nowSec - fromSec) * 1_000;
      const due = new Set(crons.filter((cron) => lastFiringMs(cron, nowSec * 1_000, missedMs) !== null));
      if (due.size > 0) {
        runGuarded(() => onDue(due), onBug);
      }
    }
  }

  return {
    [Symbol.dispose]() {
      clearTimeout(timer);
    },
  };
}

function currentSec(): number {
  return Math.floor(Date.now() / 1_000);
}

function msToNextSecond(): number {
  return 1_000 - (Date.now() % 1_000);
}

function runGuarded(run: () => void, onBug: (error: unknown) => void): void {
  try {
    run();
  } catch (error) {
    onBug(error);
  }
}
