import type { BudgetRecord } from "../budgets/gate.ts";
import type { Config } from "../config/config.ts";
import type { ChainState } from "../core/head/chain-state.ts";
import type { Endpoint, Fleet } from "../core/model/fleet.ts";
import type { Report } from "../core/model/report.ts";
import type { RestoredState } from "../io/state/file.ts";
import { Daemon, type DaemonOptions } from "./daemon.ts";
import { Monitor, type SavedMonitor } from "./monitor.ts";
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
 * Statuses of an earlier process do not count, but what is observed now is saved for the next one; what the state file
 * knows of sources of another configuration stays in it.
 *
 * @throws {StateLockedError} If a living process has the state file.
 */
export async function checkRound(
  config: Config,
  chains: ReadonlySet<string>,
  { world, stateFile, shared }: CheckRoundOptions,
): Promise<Report> {
  // The report covers only these endpoints: others are not polled and cannot show whether the network works.
  const fleet = onlyServing(config.fleet, chains);
  const saved = new Monitor(config.fleet, { nowMs: world.nowMs, budgets: () => [] });
  await using store = await openStateStore(stateFile, config.fleet, {
    world,
    state: () => withOthers(saved.save(), daemon.save(), restored),
    onLockLost: ({ message }) => world.logger.error(message),
  });
  const { restored } = store;
  saved.restore(restored);
  await using daemon: Daemon = new Daemon(
    { ...config, fleet },
    {
      // Failures and reasons are in the report.
      world: { ...world, logger: world.logger.child({}, { level: "silent" }) },
      store: { ...store, restored: { ...restored, chains: {}, incidents: [] } },
      shared,
      onPolled({ observations }) {
        saved.observe(observations);
      },
    },
  );
  await daemon.checkOnce();
  const report = daemon.report();
  const polled = new Set(report.chains.map(({ slug }) => slug));
  // Parity needs many polls: only for parity, polls of earlier processes count.
  return { ...report, parity: saved.report().parity.filter(({ chain }) => polled.has(chain)) };
}

/** What the file knows of sources that this configuration lacks stays in it: it may be a daemon's. */
function withOthers(
  saved: SavedMonitor,
  { questions }: ReturnType<Daemon["save"]>,
  former: RestoredState,
): ReturnType<Daemon["save"]> {
  const chains = new Map(Object.entries(former.chains));
  for (const [slug, chain] of Object.entries(saved.chains)) {
    chains.set(slug, withOtherSources(chain, chains.get(slug)));
  }
  return {
    ...saved,
    chains: Object.fromEntries(chains),
    questions: { ...former.questions, ...questions },
  };
}

function withOtherSources(own: ChainState, former: ChainState | undefined): ChainState {
  const others = former?.sources.filter(({ key }) => own.sentTo[key] === undefined) ?? [];
  return {
    ...own,
    sources: [...own.sources, ...others].sort((a, b) => (a.key < b.key ? -1 : 1)),
    sentTo: { ...former?.sentTo, ...own.sentTo },
  };
}

/** The fleet without the endpoints that serve none of these chains. */
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
