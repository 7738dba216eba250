import { type ScheduledTask, schedule as scheduleTask } from "node-cron";

/** Schedules that fire together are handed over together, once a second at most. */
export interface CronOptions {
  /** Distinct six-field expressions, seconds first, in the process's time zone. */
  readonly expressions: readonly string[];
  /** Called with all expressions that are due at `atMs`, a whole second. */
  readonly onDue: (expressions: ReadonlySet<string>, atMs: number) => void;
  /** Called each second while node-cron is alive: the heartbeat behind `/-/healthy`. */
  readonly onHeartbeat: () => void;
  /** node-cron swallows what a task throws and prints it with its own logger: it comes here instead. */
  readonly onBug: (error: unknown) => void;
}

/** Long enough for node-cron to fire all tasks of one second, too short to matter to a poll. */
const GATHER_MS = 20;

/** Starts the schedules. Disposing stops them; it waits for nothing, since a tick only starts polls. */
export function startCron({ expressions, onDue, onHeartbeat, onBug }: CronOptions): Disposable {
  const due = new Map<number, Set<string>>();
  const timers = new Set<NodeJS.Timeout>();

  function gather(expression: string, firedAtMs: number): void {
    const atMs = Math.floor(firedAtMs / 1000) * 1000;
    const gathered = due.get(atMs);
    if (gathered !== undefined) {
      gathered.add(expression);
      return;
    }
    due.set(atMs, new Set([expression]));
    const timer = setTimeout(() => {
      timers.delete(timer);
      const together = due.get(atMs) ?? new Set();
      due.delete(atMs);
      guarded(() => onDue(together, atMs), onBug);
    }, GATHER_MS);
    timers.add(timer);
  }

  function start(expression: string, fire: (firedAtMs: number) => void): ScheduledTask {
    const task = scheduleTask(expression, ({ date }) => fire(date.getTime()), {
      suppressMissedWarning: true,
    });
    // A tick missed while the process was blocked or suspended still stands for a poll that is due.
    task.on("execution:missed", ({ date }) => fire(date.getTime()));
    return task;
  }

  const tasks = [...new Set(expressions)].map((expression) =>
    start(expression, (firedAtMs) => gather(expression, firedAtMs)),
  );
  tasks.push(start("* * * * * *", () => guarded(onHeartbeat, onBug)));

  return {
    [Symbol.dispose]() {
      for (const task of tasks) {
        void task.destroy();
      }
      for (const timer of timers) {
        clearTimeout(timer);
      }
    },
  };
}

function guarded(run: () => void, onBug: (error: unknown) => void): void {
  try {
    run();
  } catch (error) {
    onBug(error);
  }
}
