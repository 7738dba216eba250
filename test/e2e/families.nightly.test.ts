import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { freePort } from "./support/free-port.ts";
import { POSTGRES_DATABASE, POSTGRES_USER, type Postgres, startPostgres } from "./support/postgres.ts";
import { runProgram, startProgram } from "./support/program.ts";
import { type Synclag, startSynclag } from "./support/synclag.ts";
import { temporaryFolder, undoAll } from "./support/undo.ts";

const FOLDER = fileURLToPath(new URL("families", import.meta.url));
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

describe("Synclag, against the servers of SQD and SubQuery over one PostgreSQL", () => {
  let postgres: Postgres;
  let urls: { readonly squid: string; readonly subquery: string };
  let synclag: Synclag;

  const targets = async () =>
    (await synclag.report()).targets.toSorted((a, b) => nameOf(a).localeCompare(nameOf(b)));
  /** `squid/base ok -` for each target. */
  const verdicts = async () =>
    (await targets()).map((one) => `${nameOf(one)} ${one.status} ${one.reason ?? "-"}`);
  const each = (verdict: string): readonly string[] =>
    ["found/base", "squid/base", "subquery/base", "subquery/ethereum"].map((name) => `${name} ${verdict}`);
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
    const database = {
      DB_HOST: "127.0.0.1",
      DB_PORT: String(postgres.port),
      DB_USER: POSTGRES_USER,
      DB_PASS: "none",
    };
    await startServer(["@subsquid/graphql-server/bin/run.js"], {
      ...database,
      DB_NAME: POSTGRES_DATABASE,
      GQL_PORT: String(squidPort),
    });
    await startServer(["@subql/query/bin/run", "--name", "app", "--port", String(subqueryPort)], {
      ...database,
      DB_DATABASE: POSTGRES_DATABASE,
      // It would ask a package registry for updates of itself.
      NO_UPDATE_NOTIFIER: "1",
    });
    urls = { squid: `http://127.0.0.1:${squidPort}/graphql`, subquery: `http://127.0.0.1:${subqueryPort}/` };
    const configFile = join(await temporaryFolder("families"), "chains.yaml");
    await writeFile(configFile, configuration(urls));
    synclag = await startSynclag(configFile);
  });

  afterAll(async () => {
    await postgres.stop();
    await undoAll();
  });

  it("says syncing of both before their first block, and ok with the heights of the database thereafter", async () => {
    await expect.poll(verdicts, SETTLE).toEqual(each("syncing -"));

    await startProcessor("squid", SQUID);
    await startProcessor("subquery", SUBQUERY);

    await expect.poll(verdicts, SETTLE).toEqual(each("ok -"));
    for (const { block_number: height } of await targets()) {
      expect(height).toBeGreaterThanOrEqual(FIRST_HEIGHT);
    }
  });

  it("probes both", async () => {
    const [squid, subquery] = await Promise.all([probe(urls.squid), probe(urls.subquery)]);

    const hash = expect.stringMatching(/^0x[0-9a-f]{32}$/);
    const indexed = { chain_id: null, state: "indexed", block_hash: hash };
    expect(squid).toMatchObject({ code: 0, said: { dialect: "squid", chains: [indexed] } });
    const chains = [{ chain_id: 1 }, { chain_id: 8453 }];
    expect(subquery).toMatchObject({ code: 0, said: { dialect: "subquery", chains } });
  });

  it("reports both as stalled once nothing is processed, although servers reply and a node reports healthy", async () => {
    await postgres.end("squid");
    await postgres.end("subquery");

    await expect.poll(verdicts, SETTLE).toEqual(each("stalled -"));
  });

  it("says what the server says once the tables vanish, and which chain", async () => {
    await postgres.run("DROP SCHEMA squid_processor CASCADE; DELETE FROM app._metadata_0x1;");

    await expect
      .poll(verdicts, SETTLE)
      .toEqual([
        "found/base unreachable graphql",
        "squid/base unreachable graphql",
        "subquery/base stalled -",
        "subquery/ethereum not_found schema",
      ]);
    const [found, squid, , ethereum] = (await targets()).map(({ detail }) => detail);
    for (const detail of [found, squid]) {
      expect(detail).toContain('relation "squid_processor.status" does not exist');
    }
    expect(ethereum).toContain("a row without a chain id");
    expect(await probe(urls.squid)).toMatchObject({ code: 1, said: { dialect: null } });
  });
});

/** Starts a server of test/e2e/families; it answers some seconds later. */
function startServer([program = "", ...args]: readonly string[], env: Readonly<Record<string, string>>) {
  return startProgram({
    command: process.execPath,
    args: [join("node_modules", program), ...args],
    cwd: FOLDER,
    env,
  });
}

function nameOf({ variant, chain }: { readonly variant: string; readonly chain: string }): string {
  return `${variant}/${chain}`;
}

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
