import type { Report } from "../core/model/report.ts";
import type { World } from "../world.ts";
import { logChanges } from "./change-log.ts";
import type { Daemon } from "./daemon.ts";
import type { Insight } from "./insight.ts";

/** How often the report is looked at for changes that are worth a line in the log. */
const WATCH_MS = 1_000;

/** Logs what changes, and once that the first round is done; `insight` takes in every report that is looked at. */
export function watchChanges(daemon: Daemon, insight: Insight, world: World): AsyncDisposable {
  let before = daemon.report();
  let isReady = false;
  let looking: Promise<void> | null = null;

  async function look(): Promise<void> {
    await daemon.prepare();
    const after = daemon.report();
    await insight.take(after);
    if (!isReady && daemon.ready().ok) {
      isReady = true;
      world.logger.info(countStatuses(after), "First round done");
    }
    logChanges(world.logger, before, after);
    before = after;
  }

  const timer = setInterval(() => {
    looking ??= look()
      .catch(world.onBug)
      .finally(() => {
        looking = null;
      });
  }, WATCH_MS);
  return {
    async [Symbol.asyncDispose]() {
      clearInterval(timer);
      await looking;
    },
  };
}

function countStatuses(report: Report): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { status } of report.chains.flatMap((chain) => chain.targets)) {
    counts[status] = (counts[status] ?? 0) + 1;
  }
  return counts;
}
