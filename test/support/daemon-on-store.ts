import type { App } from "../../src/app/app.ts";
import type { StoreSettings } from "../../src/config/config.ts";
import type { SimulatedFleet } from "../../src/sim/fleet/simulated-fleet.ts";
import { FAULTS } from "./faults.ts";
import { startFleet } from "./fleet.ts";
import { type LogLine, recordLog } from "./log-recorder.ts";
import { configOf, startTestApp } from "./running-app.ts";

/** More than a schedule of one request a second asks for in an hour. */
export const LIMIT = 4_000;
/** The keys of the fleet's endpoints. */
export const FREE = "free/subgraph/production/base";
export const COUNTED = "counted/subgraph/production/base";
const REFUSED = "refused/subgraph/production/base";

export interface DaemonOnStore extends AsyncDisposable {
  readonly app: App;
  /** Polled each second: an endpoint without a budget, one with a budget of `LIMIT` an hour, and one that refuses with 429. */
  readonly fleet: SimulatedFleet;
  readonly lines: readonly LogLine[];
  readonly bugs: readonly unknown[];
}

/** A daemon in this process with the real clock, on a store on loopback, with a fleet of its own. */
export async function startOnStore({
  port,
  cluster,
}: {
  readonly port: number;
  readonly cluster: string;
}): Promise<DaemonOnStore> {
  const fleet = await startFleet({
    nowMs: Date.now,
    endpoints: [FREE, COUNTED, REFUSED].map((key) => ({
      kind: "studio" as const,
      key,
      chains: ["base"],
      path: `/query/1/${key.split("/")[0]}/version/latest`,
    })),
  });
  fleet.endpoint(REFUSED).fail(FAULTS.http_429);
  const { logger, lines } = recordLog();
  const bugs: unknown[] = [];
  const indexer = (key: string, budget: string): string =>
    `[{ variant: subgraph, dialect: graph, url: "${fleet.endpoint(key).url}", schedule: "* * * * * *", chains: [base]${budget} }]`;
  const config = configOf(`version: 1
poll: { retries: 0 }
budgets:
  many: { limit: ${LIMIT}, per: hour, scope: shared }
  refused: { limit: ${LIMIT}, per: hour, scope: shared }
chains: { base: { id: 8453, name: base, block_time: 2s } }
protocols:
  free: ${indexer(FREE, "")}
  counted: ${indexer(COUNTED, ", budget: many")}
  refused: ${indexer(REFUSED, ", budget: refused")}
`);
  const address = storeAddress(port);
  const app = await startTestApp(config, {
    store: { address, cluster },
    logger,
    onBug: (error) => bugs.push(error),
  });
  return {
    app,
    fleet,
    lines,
    bugs,
    async [Symbol.asyncDispose]() {
      await app[Symbol.asyncDispose]();
      await fleet[Symbol.asyncDispose]();
    },
  };
}

/** Routes of a daemon that do not answer as they should. */
export async function badRoutes({ url }: Pick<App, "url">): Promise<readonly string[]> {
  const routes = ["/", "/chains/base", "/plan", "/metrics", "/api/v1/status", "/api/v1/history/free/base"];
  const answers = routes.map(async (route) => `${route} ${(await fetch(`${url}${route}`)).status}`);
  return (await Promise.all(answers)).filter((answer) => !answer.endsWith(" 200"));
}

/** A Redis on loopback without TLS or users. */
export function storeAddress(port: number): StoreSettings["address"] {
  return { host: "127.0.0.1", port, isEncrypted: false, username: null, password: null, database: 0 };
}
