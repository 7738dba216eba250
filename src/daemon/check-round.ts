import type { BudgetRecord } from "../budgets/gate.ts";
import type { Config } from "../config/config.ts";
import { endedText } from "../core/model/end.ts";
import type { Endpoint, Fleet } from "../core/model/fleet.ts";
import type { Report, TargetReport } from "../core/model/report.ts";
import { traitsOf } from "../core/model/statuses.ts";
import { Daemon, type DaemonOptions } from "./daemon.ts";
import { Monitor } from "./monitor.ts";
import { openStateStore } from "./state/store.ts";

export interface CheckRoundOptions {
  readonly world: DaemonOptions["world"];
  /** The state file with the budgets; null: the store has the budgets. */
  readonly stateFile: string | null;
  /** The budgets of the store; null: the state file has the budgets. */
  readonly shared: BudgetRecord | null;
}

/**
 * One round of `synclag check`: polls each endpoint that serves one of these chains, once. Endpoints of all protocols are
 * polled, because together they give the reference of a chain.
 *
 * Two things of an earlier process count: the last known height of a target that may not be polled, and the end that a target
 * had reached. The observations are added to the state file, if there is one.
 *
 * @throws {StateLockedError} If a living process has the state file.
 */
export async function checkRound(
  config: Config,
  chains: ReadonlySet<string>,
  { world, stateFile, shared }: CheckRoundOptions,
): Promise<Report> {
  const known = new Monitor(config.fleet, { nowMs: world.nowMs, budgets: () => [] });
  await using store = await openStateStore(stateFile, config.fleet, {
    world,
    state: () => ({
      chains: { ...restored.chains, ...known.save().chains },
      incidents: restored.incidents,
      questions: { ...restored.questions, ...daemon.save().questions },
      notified: restored.notified,
    }),
    onLockLost: ({ message }) => world.logger.error(message),
  });
  const { restored } = store;
  known.restore(restored);
  await using daemon: Daemon = new Daemon(
    // The report covers only these endpoints: others are not polled and cannot show whether the network works.
    { ...config, fleet: onlyServing(config.fleet, chains) },
    {
      // Failures and reasons are in the report.
      world: { ...world, logger: world.logger.child({}, { level: "silent" }) },
      store: { ...store, restored: { ...restored, chains: {}, incidents: [] } },
      shared,
    },
  );
  known.observe(await daemon.checkOnce());
  known.tick();
  const report = daemon.report();
  const { parity, targets } = known.report();
  const byKey = new Map(targets.map((target) => [target.key, target]));
  const polled = new Set(report.chains.map(({ slug }) => slug));
  return {
    ...report,
    targets: report.targets.map((target) => withKnown(target, byKey.get(target.key))),
    // A check sends no probes, so parity is as in the state file.
    parity: parity.filter(({ chain }) => polled.has(chain)),
  };
}

/**
 * Adds what an earlier process knew: the last known height of a target that was not polled, or the end that a target had
 * reached before it was gone.
 */
function withKnown(target: TargetReport, known: TargetReport | undefined): TargetReport {
  if (target.status === "throttled" && known?.status === "throttled") {
    return { ...known, preferred: target.preferred };
  }
  const ended = traitsOf(target.status).hasHeight ? null : (known?.ended ?? null);
  return ended === null || target.ended !== null
    ? target
    : { ...target, ended, maintenance: true, detail: `${endedText(ended)}; ${target.detail}` };
}

function onlyServing(fleet: Fleet, chains: ReadonlySet<string>): Fleet {
  const serving = (endpoints: readonly Endpoint[]) =>
    endpoints.filter(({ chain, targets }) =>
      chain === null ? targets.some((target) => chains.has(target.chain)) : chains.has(chain),
    );
  return {
    ...fleet,
    indexers: fleet.indexers.map((indexer) => ({ ...indexer, endpoints: serving(indexer.endpoints) })),
    rpcEndpoints: serving(fleet.rpcEndpoints),
  };
}
