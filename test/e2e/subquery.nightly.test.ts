import { beforeAll, describe, expect, it, vi } from "vitest";
import { z } from "zod";
import { type Anvil, startAnvil } from "./support/anvil.ts";
import { freePort } from "./support/free-port.ts";
import { getJson, postJson } from "./support/loopback.ts";
import { DATABASE, type Postgres, startPostgres } from "./support/postgres.ts";
import {
  copyProject,
  SETTLE,
  startIndexer,
  type WatchedIndexers,
  watchIndexers,
} from "./support/watched-indexers.ts";

const HISTORY = 30;

const meta = z.object({ currentProcessingHeight: z.number(), targetHeight: z.number() });
const accounts = z.object({ result: z.tuple([z.string()]).rest(z.string()) });

describe("synclag run, against a SubQuery node that indexes an Anvil chain", () => {
  let anvil: Anvil;
  let postgres: Postgres;
  let node: string;
  let watched: WatchedIndexers;

  const allSay = (status: string) =>
    watched.says(...["gauge", "meta", "query"].map((variant) => `${variant} alpha ${status} -`));
  const nodeMeta = async () => meta.parse(await getJson(`${node}/meta`));

  beforeAll(async () => {
    anvil = await startAnvil(31_337, HISTORY);
    postgres = await startPostgres();
    // The node keeps the history of each row, and asks for this extension.
    await postgres.run("CREATE EXTENSION btree_gist;");
    const [nodePort, queryPort] = [await freePort(), await freePort()];
    node = `http://127.0.0.1:${nodePort}`;
    const env = {
      ...{ ...postgres.env, DB_DATABASE: DATABASE.name },
      // The node refuses to start in another time zone; the query service would ask a package registry for updates of itself.
      ...{ TZ: "UTC", NO_UPDATE_NOTIFIER: "1" },
    };
    const project = await copyProject("subquery", { ALPHA_URL: anvil.url });
    const schema = `--db-schema app --port ${nodePort}`;
    await startIndexer("subquery", `@subql/node-ethereum/bin/run -f ${project} --unsafe ${schema}`, env);
    await vi.waitFor(nodeMeta, SETTLE);
    await startIndexer("families", `@subql/query/bin/run --name app --port ${queryPort}`, env);
    watched = await watchIndexers({
      nodes: { alpha: anvil },
      indexers: {
        meta: { dialect: "subquery-meta", url: `${node}/meta` },
        gauge: { dialect: "subquery-metrics", url: `${node}/metrics` },
        query: { dialect: "subquery", url: `http://127.0.0.1:${queryPort}/` },
      },
      thresholds: { lagging: "15s", critical: "10m", stalled: "20s", stale: "30s" },
    });
  });

  it("reports its status page, its gauge and its query service as ok, with heights that Anvil has had", async () => {
    await allSay("ok");

    expect(await watched.wrongHeights(10)).toEqual([]);
  });

  it("reports all three as stalled once the handler hangs, while the node still reports healthy", async () => {
    const sentAt = await anvil.blockNumber();
    await sendTransaction(anvil.url);

    await allSay("stalled");

    const heights = (await watched.targets()).map((target) => target.block_number ?? 0);
    const { currentProcessingHeight: stuckAt, targetHeight } = await nodeMeta();

    expect(stuckAt).toBeGreaterThan(sentAt);
    expect(stuckAt).toBeLessThan(sentAt + 5);
    expect(Math.max(...heights)).toBe(stuckAt);
    expect(targetHeight).toBeGreaterThan(stuckAt + 10);
    expect((await fetch(`${node}/health`)).status).toBe(200);
  });
});

/** Sends nothing from Anvil's first account to itself: the next block has a transaction. */
async function sendTransaction(rpc: string): Promise<void> {
  const call = (method: string, ...params: readonly unknown[]) =>
    postJson(rpc, { jsonrpc: "2.0", id: 1, method, params });
  const [account] = accounts.parse(await call("eth_accounts")).result;
  await call("eth_sendTransaction", { from: account, to: account });
}
