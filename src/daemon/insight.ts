import { readFileSync } from "node:fs";
import { planFleet } from "../budgets/plan.ts";
import type { Config } from "../config/config.ts";
import type { Plan } from "../core/model/plan.ts";
import type { Report } from "../core/model/report.ts";
import type { ServerDeps } from "../io/http-server/server-deps.ts";
import { readHistoryFile, writeHistoryFile } from "../io/state/history-file.ts";
import { isSystemError } from "../io/system-error.ts";
import type { World } from "../world.ts";
import type { Daemon } from "./daemon.ts";
import { inSlices } from "./in-slices.ts";
import { inspectChain } from "./inspect-chain.ts";
import { Recorder } from "./recorder.ts";

/** What only people look at: the past, the last replies and the plan. Disposing it saves the past. */
export interface Insight extends AsyncDisposable {
  readonly source: Pick<ServerDeps, "past" | "endpoints" | "plan" | "statusesDocument">;
  /** Takes in the report of now; to be called every second, once at a time. */
  readonly take: (report: Report) => Promise<void>;
}

/** Plots may lose so much in a crash: nothing else depends on them. */
const SAVE_MS = 5 * 60_000;

/** Beside the program, in its package and in its image. */
const STATUSES_DOCUMENT = new URL("../../docs/statuses.md", import.meta.url);

/** Starts to look on, from the past that a former process has saved. */
export async function startInsight(
  daemon: Daemon,
  world: Pick<World, "logger" | "stateFile" | "nowMs">,
): Promise<Insight> {
  const { stateFile, logger, nowMs } = world;
  const statusesDocument = readFileSync(STATUSES_DOCUMENT, "utf8");
  const recorder = new Recorder();
  const planOf = rememberPlan();

  let saved: Promise<void> = Promise.resolve();
  async function save(): Promise<void> {
    if (stateFile === null) {
      return;
    }
    const former = saved;
    saved = former.then(() => saveTo(stateFile, recorder, logger));
    await saved;
  }

  if (stateFile !== null) {
    recorder.restore((await readHistoryFile(stateFile)) ?? {});
  }
  const timer = setInterval(() => void save(), SAVE_MS);
  return {
    source: {
      past: (chain, keys, span) => recorder.past(chain, keys, span),
      endpoints: (chain) => inspectChain(daemon.config, chain, (key) => daemon.exchanges(key)),
      plan: () => planOf(daemon.config),
      statusesDocument: () => statusesDocument,
    },
    async take(report) {
      recorder.retain(report);
      await inSlices(report.chains, (chain) => recorder.record(chain, report.generatedAtMs), nowMs);
    },
    async [Symbol.asyncDispose]() {
      clearInterval(timer);
      await save();
    },
  };
}

async function saveTo(stateFile: string, recorder: Recorder, logger: World["logger"]): Promise<void> {
  try {
    await writeHistoryFile(stateFile, recorder.save());
  } catch (error) {
    if (!isSystemError(error)) {
      throw error;
    }
    logger.warn({ detail: String(error) }, "Cannot write the history of the plots");
  }
}

/** A plan takes a moment to work out, and stays as long as its configuration. */
function rememberPlan(): (config: Config) => Plan {
  let known: { readonly config: Config; readonly plan: Plan } | null = null;
  return (config) => {
    if (known?.config !== config) {
      known = { config, plan: planFleet(config.fleet, config.poll) };
    }
    return known.plan;
  };
}
