import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { freePort } from "./support/free-port.ts";
import { POSTGRES_DATABASE, POSTGRES_USER, type Postgres, startPostgres } from "./support/postgres.ts";
import { runProgram, startProgram } from "./support/program.ts";
import { type Synclag, startSynclagOn } from "./support/synclag.ts";
import { undoAll } from "./support/undo.ts";

const FOLDER = fileURLToPath(new URL("families", import.meta.url));
const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const SETTLE = { timeout: 60_000, interval: 100 };
const FIRST_HEIGHT = 23_368_000;

/** What a squid's processor keeps in its database, before its first block. */
const SCHEMA = `
CREATE SCHEMA squid_processor;
CREATE TABLE squid_processor.status (id int4 PRIMARY KEY, height int4 NOT NULL, hash text DEFAULT '0x', nonce int4 DEFAULT 0);
CREATE TABLE squid_processor.hot_block (height int4 PRIMARY KEY, hash text NOT NULL);
INSERT INTO squid_processor.status VALUES (0, -1, '0x', 0);
CREATE TABLE public.transfer (id text PRIMARY KEY, amount numeric NOT NULL);
`;

/** Ten blocks a second, by the clock: whoever stands still for a while catches up. */
const HEIGHT = `(${FIRST_HEIGHT} + floor(extract(epoch FROM clock_timestamp() - pg_postmaster_start_time()) * 10)::int4)`;
const SQUID = `
INSERT INTO squid_processor.hot_block SELECT height, '0x' || md5(height::text) FROM (SELECT ${HEIGHT} AS height) AS head ON CONFLICT DO NOTHING;
DELETE FROM squid_processor.hot_block WHERE height < ${HEIGHT} - 20;
UPDATE squid_processor.status SET height = ${HEIGHT} - 20, hash = '0xf1', nonce = nonce + 1;`;

// The servers of SubQuery are in subquery.nightly.test.ts.
describe("Synclag, against the server of SQD over a PostgreSQL", () => {
  let postgres: Postgres;
  let url: string;
  let synclag: Synclag;

  const targets = async () =>
    (await synclag.report()).targets.toSorted((a, b) => nameOf(a).localeCompare(nameOf(b)));
  /** `squid/base ok -` for each target. */
  const verdicts = async () =>
    (await targets()).map((one) => `${nameOf(one)} ${one.status} ${one.reason ?? "-"}`);
  const each = (verdict: string): readonly string[] =>
    ["found/base", "squid/base"].map((name) => `${name} ${verdict}`);
  const probe = async () => {
    const args = ["dist/main.js", "probe", url, "--format", "json"];
    const { code, stdout } = await runProgram({ command: process.execPath, args, cwd: ROOT });
    return { code, said: JSON.parse(stdout) };
  };
  beforeAll(async () => {
    postgres = await startPostgres();
    await postgres.run(SCHEMA);
    const port = await freePort();
    // It answers some seconds later.
    await startProgram({
      command: process.execPath,
      args: ["node_modules/@subsquid/graphql-server/bin/run.js"],
      cwd: FOLDER,
      env: {
        DB_HOST: "127.0.0.1",
        DB_PORT: String(postgres.port),
        DB_USER: POSTGRES_USER,
        DB_PASS: "none",
        DB_NAME: POSTGRES_DATABASE,
        GQL_PORT: String(port),
      },
    });
    url = `http://127.0.0.1:${port}/graphql`;
    synclag = await startSynclagOn("families", configuration(url));
  });

  afterAll(async () => {
    await postgres.stop();
    await undoAll();
  });

  it("says syncing before its first block, and ok with the heights of the database thereafter", async () => {
    await expect.poll(verdicts, SETTLE).toEqual(each("syncing -"));

    await postgres.start(
      "squid",
      `DO $$ BEGIN LOOP ${SQUID} COMMIT; PERFORM pg_sleep(0.1); END LOOP; END $$;`,
    );

    await expect.poll(verdicts, SETTLE).toEqual(each("ok -"));
    for (const { block_number: height } of await targets()) {
      expect(height).toBeGreaterThanOrEqual(FIRST_HEIGHT);
    }
  });

  it("probes it", async () => {
    const hash = expect.stringMatching(/^0x[0-9a-f]{32}$/);
    const indexed = { chain_id: null, state: "indexed", block_hash: hash };

    expect(await probe()).toMatchObject({ code: 0, said: { dialect: "squid", chains: [indexed] } });
  });

  it("reports it as stalled once nothing is processed, although the server replies", async () => {
    await postgres.end("squid");

    await expect.poll(verdicts, SETTLE).toEqual(each("stalled -"));
  });

  it("says what the server says once the tables vanish", async () => {
    await postgres.run("DROP SCHEMA squid_processor CASCADE;");

    await expect.poll(verdicts, SETTLE).toEqual(each("unreachable graphql"));
    for (const { detail } of await targets()) {
      expect(detail).toContain('relation "squid_processor.status" does not exist');
    }
    expect(await probe()).toMatchObject({ code: 1, said: { dialect: null } });
  });
});

function nameOf({ variant, chain }: { readonly variant: string; readonly chain: string }): string {
  return `${variant}/${chain}`;
}

function configuration(url: string): string {
  const every = `schedule: "* * * * * *", chains: [base]`;
  return `
version: 1
poll: { timeout: 2s, retries: 0 }
thresholds: { lagging: 30s, critical: 2m, stalled: 5s, stale: 30s }
chains: { base: { id: 8453, block_time: 100ms } }
protocols:
  ledger:
    - { variant: squid, dialect: squid, url: "${url}", ${every} }
    - { variant: found, url: "${url}", ${every} }
`;
}
