import { lastFiringMs } from "../schedule/firing-times.ts";

export interface CronOptions {
  /** Six-field expressions, seconds first, in UTC. A repeated expression counts once. */
  readonly expressions: readonly string[];
  /** Called with all expressions that are due, at most once a second. */
  readonly onDue: (expressions: ReadonlySet<string>) => void;
  /** Called each second: the heartbeat for `/-/healthy`. */
  readonly onTick: () => void;
  /** Receives what a callback throws; the schedule continues. */
  readonly onBug: (error: unknown) => void;
}

/**
 * If the clock is set back by more than this, the schedules follow at once. After a smaller step, nothing is due until the
 * clock has caught up.
 */
const LONGEST_WAIT_SEC = 5;
/** After a sleep of the machine, firings older than this are skipped. */
const LONGEST_CATCH_UP_SEC = 3_600;

/**
 * Starts the schedules, with one ticker for all, because endpoints that are due together are polled together. Disposing stops
 * them.
 *
 * If the process was blocked or suspended, every expression that was due in the missed seconds fires once.
 */
export function startCron({ expressions, onDue, onTick, onBug }: CronOptions): Disposable {
  const crons = [...new Set(expressions)];
  let lastSec = currentSec();
  let timer = setTimeout(tick, msToNextSecond());

  function tick(): void {
    timer = setTimeout(tick, msToNextSecond());
    const nowSec = currentSec();
    const wasSetBack = nowSec < lastSec - LONGEST_WAIT_SEC;
    const fromSec = wasSetBack ? nowSec - 1 : Math.max(lastSec, nowSec - LONGEST_CATCH_UP_SEC);
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
