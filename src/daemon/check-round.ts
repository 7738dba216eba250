import type { BudgetRecord } from "../budgets/gate.ts";
import type { Config } from "../config/config.ts";
import type { Endpoint, Fleet } from "../core/model/fleet.ts";
import type { Report } from "../core/model/report.ts";
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
 * One round of `synclag check`: polls once every endpoint that serves one of these chains, of any protocol, since
 * together they make the reference that each is measured against.
 *
 * Statuses of an earlier process do not count. Of the state file only the budgets change, and which question an endpoint answers:
 * the rest may be a daemon's.
 *
 * @throws {StateLockedError} If a living process has the state file.
 */
export async function checkRound(
  config: Config,
  chains: ReadonlySet<string>,
  { world, stateFile, shared }: CheckRoundOptions,
): Promise<Report> {
  await using store = await openStateStore(stateFile, config.fleet, {
    world,
    state: () => ({
      chains: restored.chains,
      incidents: restored.incidents,
      questions: { ...restored.questions, ...daemon.save().questions },
    }),
    onLockLost: ({ message }) => world.logger.error(message),
  });
  const { restored } = store;
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
  await daemon.checkOnce();
  const report = daemon.report();
  // A single poll carries no values: parity is what a daemon has found.
  const known = new Monitor(config.fleet, { nowMs: world.nowMs, budgets: () => [] });
  known.restore(restored);
  const polled = new Set(report.chains.map(({ slug }) => slug));
  return { ...report, parity: known.report().parity.filter(({ chain }) => polled.has(chain)) };
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
