import { type ScheduledTask, schedule as scheduleTask } from "node-cron";

/** Schedules that fire together are handed over together, once a second at most. */
export interface CronOptions {
  /** Six-field expressions, seconds first, in UTC, where no day has 23 hours; one that repeats counts once. */
  readonly expressions: readonly string[];
  /** Called with all expressions that are due; `atMs` is the latest whole second that one of them stands for. */
  readonly onDue: (expressions: ReadonlySet<string>, atMs: number) => void;
  /** Called each second while node-cron is alive: the heartbeat behind `/-/healthy`. */
  readonly onHeartbeat: () => void;
  /** node-cron swallows what a task throws and prints it with its own logger: it comes here instead. */
  readonly onBug: (error: unknown) => void;
}

/** Long enough for node-cron to fire all tasks of one second, too short to matter to a poll. */
const GATHER_MS = 20;

/** So many seconds without a heartbeat, and the tasks are started anew. */
const LONGEST_SILENCE = 5;

/**
 * Starts the schedules. Disposing stops them; it waits for nothing, since a tick only starts polls.
 *
 * node-cron waits for the wall clock: were that put back by an hour, it would be silent for one. A timer beside it,
 * which no clock can move, notices and starts it anew.
 */
export function startCron(options: CronOptions): Disposable {
  const gatherer = createGatherer(options);
  let silentSeconds = 0;
  let tasks = startTasks();

  function startTasks(): readonly ScheduledTask[] {
    return [
      ...[...new Set(options.expressions)].map((expression) =>
        startTask(expression, (atMs) => gatherer.add(expression, atMs)),
      ),
      startTask("* * * * * *", () => {
        silentSeconds = 0;
        guarded(options.onHeartbeat, options.onBug);
      }),
    ];
  }

  // It counts its own turns and not the time, so that a blocked process is not taken for a silent one.
  const watchdog = setInterval(() => {
    silentSeconds += 1;
    if (silentSeconds > LONGEST_SILENCE) {
      silentSeconds = 0;
      stopTasks(tasks);
      tasks = startTasks();
    }
  }, 1_000);

  return {
    [Symbol.dispose]() {
      clearInterval(watchdog);
      stopTasks(tasks);
      gatherer[Symbol.dispose]();
    },
  };
}

interface Gatherer extends Disposable {
  readonly add: (expression: string, atMs: number) => void;
}

/** Holds what fires until everything of the same instant has, then hands it over at once. */
function createGatherer({ onDue, onBug }: CronOptions): Gatherer {
  let due = new Set<string>();
  let latestMs = 0;
  let timer: NodeJS.Timeout | null = null;

  function handOver(): void {
    const together = due;
    due = new Set();
    timer = null;
    guarded(() => onDue(together, latestMs), onBug);
  }

  return {
    add(expression, atMs) {
      due.add(expression);
      latestMs = atMs;
      timer ??= setTimeout(handOver, GATHER_MS);
    },
    [Symbol.dispose]() {
      clearTimeout(timer ?? undefined);
    },
  };
}

function startTask(expression: string, fire: (atMs: number) => void): ScheduledTask {
  const task = scheduleTask(expression, ({ date }) => fire(date.getTime()), {
    timezone: "UTC",
    suppressMissedWarning: true,
  });
  // Ticks missed while the process was blocked or suspended stand for one poll that is due.
  task.on("execution:missed", ({ date }) => fire(date.getTime()));
  return task;
}

function stopTasks(tasks: readonly ScheduledTask[]): void {
  for (const task of tasks) {
    void task.destroy();
  }
}

function guarded(run: () => void, onBug: (error: unknown) => void): void {
  try {
    run();
  } catch (error) {
    onBug(error);
  }
}
