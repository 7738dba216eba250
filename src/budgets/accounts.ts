import { createHash } from "node:crypto";
import { type Budget, type Endpoint, endpointsOf, type Fleet } from "../core/model/fleet.ts";
import { groupBy } from "../core/model/group-by.ts";
import { requestsPerWindow } from "../schedule/cadence.ts";
import { accountIdOf } from "./account-id.ts";
import { type Ledger, startLedger } from "./ledger.ts";

/** One ledger of a budget: of a shared budget, or of one URL. */
export interface Account {
  readonly budget: Budget;
  /** The first that draws on it, or null for a shared budget. */
  readonly endpoint: Endpoint | null;
  readonly ledger: Ledger;
}

/** The ledgers of a fleet, and who draws on which. */
export interface Accounts {
  /** By a name that outlives the process, in the order of the fleet's budgets and endpoints. */
  readonly purses: ReadonlyMap<string, Account>;
  /** The purse's name by the endpoint's key; none for an endpoint without a budget. */
  readonly purseOf: ReadonlyMap<string, string>;
}

/**
 * Opens the ledgers of a fleet: one for a shared budget, and for one of scope `endpoint` one a URL, since that is what
 * its provider counts: two indexers behind one URL share it.
 */
export function openAccounts(fleet: Fleet): Accounts {
  const usersOf = groupBy(endpointsOf(fleet), ({ budget }) => budget);
  const purses = new Map<string, Account>();
  const purseOf = new Map<string, string>();
  const reserveOf = reserves();
  for (const budget of fleet.budgets) {
    const users = usersOf.get(budget.name) ?? [];
    for (const [name, sharers] of groupBy(users, ({ url }) => accountIdOf(budget, digestOf(url)))) {
      purses.set(name, openPurse(budget, sharers, reserveOf(sharers, budget)));
      for (const { key } of sharers) {
        purseOf.set(key, name);
      }
    }
  }
  return { purses, purseOf };
}

function openPurse(budget: Budget, sharers: readonly Endpoint[], reserve: number): Account {
  const endpoint = budget.scope === "shared" ? null : (sharers[0] ?? null);
  return { budget, endpoint, ledger: startLedger(budget, reserve) };
}

/** A URL may hold a key, and the name of a purse is written to disk. */
function digestOf(url: string): string {
  return createHash("sha256").update(url).digest("hex").slice(0, 32);
}

/** What the schedules of some endpoints ask of a window. Each sum is done once: it takes a moment. */
function reserves(): (sharers: readonly Endpoint[], budget: Budget) => number {
  const known = new Map<string, number>();
  return (sharers, { per }) => {
    const loads = [...groupBy(sharers, ({ schedule }) => schedule)].map(([cron, those]) => ({
      endpoints: those.length,
      cron,
    }));
    const question = `${per} ${JSON.stringify(loads)}`;
    const asked = known.get(question) ?? requestsPerWindow(loads, per);
    known.set(question, asked);
    return asked;
  };
}
