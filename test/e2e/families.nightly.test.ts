import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { startSquidServer, startSubqueryService } from "./support/families.ts";
import { freePort } from "./support/free-port.ts";
import { getJson } from "./support/loopback.ts";
import { type Postgres, startPostgres } from "./support/postgres.ts";
import { runProgram } from "./support/program.ts";
import { type Synclag, startSynclag } from "./support/synclag.ts";
import { temporaryFolder, undoAll } from "./support/undo.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const SETTLE = { timeout: 60_000, interval: 100 };
const FIRST_HEIGHT = 23_368_000;

/** What a squid's processor and a SubQuery node keep in their database, before their first block. */
const SCHEMA = `
CREATE SCHEMA squid_processor;
CREATE TABLE squid_processor.status (id int4 PRIMARY KEY, height int4 NOT NULL, hash text DEFAULT '0x', nonce int4 DEFAULT 0);
CREATE TABLE squid_processor.hot_block (height int4 PRIMARY KEY, hash text NOT NULL);
INSERT INTO squid_processor.status VALUES (0, -1, '0x', 0);
CREATE TABLE public.transfer (id text PRIMARY KEY, amount numeric NOT NULL);
CREATE SCHEMA app;
CREATE TABLE app.transfers (id text PRIMARY KEY, amount numeric NOT NULL);
CREATE TABLE app._metadata_0x1 (key varchar(255) PRIMARY KEY, value jsonb);
CREATE TABLE app._metadata_0x2105 (key varchar(255) PRIMARY KEY, value jsonb);
INSERT INTO app._metadata_0x1 VALUES ('chain', '"1"'), ('indexerHealthy', 'true');
INSERT INTO app._metadata_0x2105 VALUES ('chain', '"8453"'), ('indexerHealthy', 'true');
`;

/** Ten blocks a second, by the clock: whoever stands still for a while catches up. */
const HEIGHT = `(${FIRST_HEIGHT} + floor(extract(epoch FROM clock_timestamp() - pg_postmaster_start_time()) * 10)::int4)`;
const SQUID = `
INSERT INTO squid_processor.hot_block SELECT height, '0x' || md5(height::text) FROM (SELECT ${HEIGHT} AS height) AS head ON CONFLICT DO NOTHING;
DELETE FROM squid_processor.hot_block WHERE height < ${HEIGHT} - 20;
UPDATE squid_processor.status SET height = ${HEIGHT} - 20, hash = '0xf1', nonce = nonce + 1;`;
const SUBQUERY = ["_metadata_0x1", "_metadata_0x2105"]
  .map(
    (table) => `
INSERT INTO app.${table} VALUES ('lastProcessedHeight', to_jsonb(${HEIGHT})), ('targetHeight', to_jsonb(${HEIGHT}))
ON CONFLICT (key) DO UPDATE SET value = excluded.value;`,
  )
  .join("");

const status = z.object({
  targets: z.array(
    z.object({
      variant: z.string(),
      chain: z.string(),
      status: z.string(),
      reason: z.string().nullable(),
      block_number: z.number().nullable(),
      detail: z.string(),
    }),
  ),
});

describe("Synclag, against the servers of SQD and SubQuery over one PostgreSQL", () => {
  let postgres: Postgres;
  let urls: { readonly squid: string; readonly subquery: string };
  let synclag: Synclag;

  const targets = async () => status.parse(await getJson(`${synclag.url}/api/v1/status`)).targets;
  /** `squid/base ok -` for each target. */
  const verdicts = async () =>
    (await targets())
      .map((one) => `${one.variant}/${one.chain} ${one.status} ${one.reason ?? "-"}`)
      .toSorted();
  const probe = async (url: string) => {
    const args = ["dist/main.js", "probe", url, "--format", "json"];
    const { code, stdout } = await runProgram({ command: process.execPath, args, cwd: ROOT });
    return { code, said: JSON.parse(stdout) };
  };
  const startProcessor = (name: string, statements: string) =>
    postgres.start(name, `DO $$ BEGIN LOOP ${statements} COMMIT; PERFORM pg_sleep(0.1); END LOOP; END $$;`);

  beforeAll(async () => {
    postgres = await startPostgres();
    await postgres.run(SCHEMA);
    const [squidPort, subqueryPort] = [await freePort(), await freePort()];
    const databasePort = postgres.port;
    await startSquidServer({ port: squidPort, databasePort });
    await startSubqueryService({ port: subqueryPort, databasePort });
    urls = { squid: `http://127.0.0.1:${squidPort}/graphql`, subquery: `http://127.0.0.1:${subqueryPort}/` };
    const configFile = join(await temporaryFolder("families"), "chains.yaml");
    await writeFile(configFile, configuration(urls));
    synclag = await startSynclag(configFile);
  });

  afterAll(async () => {
    await postgres.stop();
    await undoAll();
  });

  it("says syncing of both before their first block", async () => {
    await expect
      .poll(verdicts, SETTLE)
      .toEqual([
        "found/base syncing -",
        "squid/base syncing -",
        "subquery/base syncing -",
        "subquery/ethereum syncing -",
      ]);
  });

  it("says ok of both, with the heights of the database, once blocks are processed", async () => {
    await startProcessor("squid", SQUID);
    await startProcessor("subquery", SUBQUERY);

    await expect
      .poll(verdicts, SETTLE)
      .toEqual(["found/base ok -", "squid/base ok -", "subquery/base ok -", "subquery/ethereum ok -"]);
    for (const { block_number: height } of await targets()) {
      expect(height).toBeGreaterThanOrEqual(FIRST_HEIGHT);
    }
  });

  it("probes both", async () => {
    const [squid, subquery] = await Promise.all([probe(urls.squid), probe(urls.subquery)]);

    expect(squid).toMatchObject({
      code: 0,
      said: {
        dialect: "squid",
        chains: [{ chain_id: null, state: "indexed", block_hash: expect.stringMatching(/^0x[0-9a-f]{32}$/) }],
      },
    });
    expect(subquery).toMatchObject({
      code: 0,
      said: { dialect: "subquery", chains: [{ chain_id: 1 }, { chain_id: 8453 }] },
    });
  });

  it("says stalled of a squid whose processor has died, though its server answers", async () => {
    await postgres.end("squid");

    await expect
      .poll(verdicts, SETTLE)
      .toEqual([
        "found/base stalled -",
        "squid/base stalled -",
        "subquery/base ok -",
        "subquery/ethereum ok -",
      ]);
  });

  it("says ok again once it goes on, and stalled of a SubQuery node that calls itself healthy", async () => {
    await startProcessor("squid", SQUID);
    await postgres.end("subquery");

    await expect
      .poll(verdicts, SETTLE)
      .toEqual([
        "found/base ok -",
        "squid/base ok -",
        "subquery/base stalled -",
        "subquery/ethereum stalled -",
      ]);
  });

  it("says what the server says once the tables vanish, and which chain", async () => {
    await postgres.end("squid");
    await postgres.run("DROP SCHEMA squid_processor CASCADE; DELETE FROM app._metadata_0x1;");

    await expect
      .poll(verdicts, SETTLE)
      .toEqual([
        "found/base unreachable graphql",
        "squid/base unreachable graphql",
        "subquery/base stalled -",
        "subquery/ethereum unreachable schema",
      ]);
    const details = (await targets()).map(({ variant, chain, detail }) => `${variant}/${chain}: ${detail}`);
    expect(
      details.filter((detail) => detail.includes('relation "squid_processor.status" does not exist')),
    ).toHaveLength(2);
    expect(details.find((detail) => detail.startsWith("subquery/ethereum"))).toContain(
      "a row without a chain id",
    );
    expect(await probe(urls.squid)).toMatchObject({ code: 1, said: { dialect: null } });
  });
});

function configuration({ squid, subquery }: { readonly squid: string; readonly subquery: string }): string {
  const every = `schedule: "* * * * * *"`;
  return `
version: 1
poll: { timeout: 2s, retries: 0 }
thresholds: { lagging: 30s, critical: 2m, stalled: 5s, stale: 30s }
chains:
  ethereum: { id: 1, block_time: 100ms }
  base: { id: 8453, block_time: 100ms }
protocols:
  ledger:
    - { variant: squid, dialect: squid, url: "${squid}", ${every}, chains: [base] }
    - { variant: found, url: "${squid}", ${every}, chains: [base] }
    - { variant: subquery, dialect: subquery, url: "${subquery}", ${every}, chains: [ethereum, base] }
`;
}
