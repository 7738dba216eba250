import { beforeAll, describe, expect, it } from "vitest";
import { startAnvil } from "./support/anvil.ts";
import { freePort } from "./support/free-port.ts";
import { getText } from "./support/loopback.ts";
import { DATABASE, type Postgres, startPostgres } from "./support/postgres.ts";
import { runProgram } from "./support/program.ts";
import { startIndexer, type WatchedIndexers, watchIndexers } from "./support/watched-indexers.ts";

const FIRST_HEIGHT = 23_368_000;
/** Blocks of Anvil at the start, and where the processor hangs a minute and a half later. */
const [HISTORY, STUCK_AT] = [30, 120];

/** What a squid's processor keeps in its database, before its first block. */
const SCHEMA = `
CREATE SCHEMA squid_processor;
CREATE TABLE squid_processor.status (id int4 PRIMARY KEY, height int4 NOT NULL, hash text DEFAULT '0x', nonce int4 DEFAULT 0);
CREATE TABLE squid_processor.hot_block (height int4 PRIMARY KEY, hash text NOT NULL);
INSERT INTO squid_processor.status VALUES (0, -1, '0x', 0);
CREATE TABLE public.transfer (id text PRIMARY KEY, amount numeric NOT NULL);
`;

/** Ten blocks a second, by the clock: after a pause it catches up. */
const HEIGHT = `(${FIRST_HEIGHT} + floor(extract(epoch FROM clock_timestamp() - pg_postmaster_start_time()) * 10)::int4)`;
const SQUID = `
INSERT INTO squid_processor.hot_block SELECT height, '0x' || md5(height::text) FROM (SELECT ${HEIGHT} AS height) AS head ON CONFLICT DO NOTHING;
DELETE FROM squid_processor.hot_block WHERE height < ${HEIGHT} - 20;
UPDATE squid_processor.status SET height = ${HEIGHT} - 20, hash = '0xf1', nonce = nonce + 1;`;

describe("synclag run, against the server of SQD over a PostgreSQL", () => {
  let postgres: Postgres;
  let url: string;
  let watched: WatchedIndexers;

  const bothSay = (verdict: string) => watched.says(`found alpha ${verdict}`, `squid alpha ${verdict}`);
  const probe = async () => {
    const args = ["dist/main.js", "probe", url, "--format", "json"];
    const { code, stdout } = await runProgram({ command: process.execPath, args });
    return { code, said: JSON.parse(stdout) };
  };

  beforeAll(async () => {
    postgres = await startPostgres();
    await postgres.run(SCHEMA);
    const port = await freePort();
    // It serves some seconds later.
    await startIndexer("families", "@subsquid/graphql-server/bin/run.js", {
      ...postgres.env,
      DB_NAME: DATABASE.name,
      GQL_PORT: String(port),
    });
    url = `http://127.0.0.1:${port}/graphql`;
    watched = await watchIndexers({
      nodes: { alpha: null },
      blockTime: "100ms",
      indexers: { squid: { dialect: "squid", url }, found: { url } },
      thresholds: { lagging: "30s", critical: "2m", stalled: "5s", stale: "30s" },
    });
  });

  it("reports syncing before the first block, and then ok with the heights of the database", async () => {
    await bothSay("syncing -");

    await postgres.start(
      "squid",
      `DO $$ BEGIN LOOP ${SQUID} COMMIT; PERFORM pg_sleep(0.1); END LOOP; END $$;`,
    );

    await bothSay("ok -");
    for (const { block_number: height } of await watched.targets()) {
      expect(height).toBeGreaterThanOrEqual(FIRST_HEIGHT);
    }
  });

  it("recognizes it in a probe", async () => {
    const hash = expect.stringMatching(/^0x[0-9a-f]{32}$/);
    const indexed = { chain_id: null, state: "indexed", block_hash: hash };

    expect(await probe()).toMatchObject({ code: 0, said: { dialect: "squid", chains: [indexed] } });
  });

  it("reports it as stalled once no block is processed, although the server replies", async () => {
    await postgres.end("squid");

    await bothSay("stalled -");
  });

  it("quotes the server once the tables are gone", async () => {
    await postgres.run("DROP SCHEMA squid_processor CASCADE;");

    await bothSay("unreachable graphql");
    for (const { detail } of await watched.targets()) {
      expect(detail).toContain('relation "squid_processor.status" does not exist');
    }
    expect(await probe()).toMatchObject({ code: 1, said: { dialect: null } });
  });
});

describe("synclag run, against the metrics page of a processor of SQD that indexes an Anvil chain", () => {
  it("reports ok with a height that Anvil has had, and stalled once the handler hangs, although the page still replies", async () => {
    const anvil = await startAnvil(31_337, HISTORY);
    const port = await freePort();
    const url = `http://127.0.0.1:${port}/metrics`;
    await startIndexer("families", "../processor.mjs", {
      RPC_URL: anvil.url,
      PROMETHEUS_PORT: String(port),
      STUCK_AT: String(STUCK_AT),
    });
    const watched = await watchIndexers({
      nodes: { alpha: anvil },
      indexers: { sqd: { dialect: "sqd-metrics", url } },
      thresholds: { lagging: "15s", critical: "10m", stalled: "20s", stale: "30s" },
    });

    await watched.says("sqd alpha ok -");
    const wrong = await watched.wrongHeights(10);
    await watched.says("sqd alpha stalled -");
    const height = (await watched.targets())[0]?.block_number;

    expect(wrong).toEqual([]);
    expect(height).toBeLessThan(STUCK_AT);
    expect(await getText(url)).toMatch(new RegExp(`^sqd_processor_last_block ${height}$`, "m"));
  });
});
