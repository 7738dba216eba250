import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { beforeAll, describe, expect, it } from "vitest";
import { type CheckFlags, check } from "../../src/commands/check.ts";
import type { CommandWorld } from "../../src/commands/command-world.ts";
import type { StatusJson } from "../../src/views/api/api-schema.ts";
import { commandWorld } from "../support/command-world.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { statusOfLaggingFleet } from "./daemon-status.ts";
import { serve } from "./serve.ts";

let lagging: StatusJson;

beforeAll(async () => {
  lagging = await statusOfLaggingFleet();
});

describe("synclag check with a state file", () => {
  it("draws on what the schedule leaves of a budget, and counts what checks before it have spent", async () => {
    await using folder = await temporaryFolder();
    const { flags, world, asked, server } = await startIndexer(folder.path, 3);
    await using _ = server;

    const statuses = [];
    for (let round = 0; round < 5; round += 1) {
      statuses.push(await statusOf(flags, world));
    }

    expect(asked()).toBe(3);
    expect(statuses).toEqual(["ok", "ok", "ok", "throttled", "throttled"]);
  });

  it("counts what checks at the same time spend, and lets each have its turn", async () => {
    await using folder = await temporaryFolder();
    const { flags, world, asked, server } = await startIndexer(folder.path, 2);
    await using _ = server;

    const statuses = await Promise.all([1, 2, 3].map(() => statusOf(flags, world)));

    expect(asked()).toBe(2);
    expect(statuses.sort()).toEqual(["ok", "ok", "throttled"]);
  });

  it("leaves nothing behind but the state", async () => {
    await using folder = await temporaryFolder();
    const { flags, world, server } = await startIndexer(folder.path, 3);
    await using _ = server;

    await statusOf(flags, world);

    expect(await readdir(folder.path)).toEqual(["synclag.state.json"]);
  });

  it("asks the daemon that holds the file, and says so", async () => {
    await using folder = await temporaryFolder();
    const { flags, world, asked, server } = await startIndexer(folder.path, 3);
    await using _ = server;
    await using daemon = await serve((_request, response) => {
      response.end(JSON.stringify(lagging));
    });
    await using holder = await hold(folder.path, daemon.url.replace("127.0.0.1", "0.0.0.0"));
    const { printed, ...own } = commandWorld({});

    const code = await check(["lockup/base"], flags, { ...own.world, readFile: world.readFile });

    expect(code).toBe(1);
    expect(asked()).toBe(0);
    expect(printed.err[0]).toMatch(
      new RegExp(
        `^Asking the running daemon at ${daemon.url} \\(pid ${holder.pid}\\), which holds .+synclag.state.json`,
      ),
    );
    expect(printed.out[0]).toContain("41 min behind");
  });

  it("asks the daemon on the configuration's address, wherever that keeps its state", async () => {
    await using folder = await temporaryFolder();
    await using daemon = await serve((_request, response) => {
      response.end(JSON.stringify(lagging));
    });
    const { flags, world, asked, server } = await startIndexer(folder.path, 3, daemon.url);
    await using _ = server;
    const { printed, ...own } = commandWorld({ SYNCLAG_STORE: "redis://127.0.0.1:9" });

    const code = await check(["lockup/base"], flags, { ...own.world, readFile: world.readFile });

    expect(code).toBe(1);
    expect(asked()).toBe(0);
    expect(printed.err).toEqual([
      `Asking the running daemon at ${daemon.url}, which serves this configuration; polling nothing`,
    ]);
    expect(printed.out[0]).toContain("41 min behind");
  });

  it("polls by itself where the server on that address is another, and warns where that wants a password", async () => {
    const others = [
      { httpStatus: 200, json: { ...lagging, targets: [] }, warnings: 0 },
      { httpStatus: 200, json: { hello: "world" }, warnings: 0 },
      { httpStatus: 401, json: {}, warnings: 1 },
    ];
    for (const { httpStatus, json, warnings } of others) {
      await using folder = await temporaryFolder();
      await using daemon = await serve((_request, response) => {
        response.statusCode = httpStatus;
        response.end(JSON.stringify(json));
      });
      const { flags, world, asked, server } = await startIndexer(folder.path, 3, daemon.url);
      await using _ = server;
      const { printed, ...own } = commandWorld({});

      await check([], flags, { ...own.world, readFile: world.readFile });

      expect(asked()).toBe(1);
      expect(printed.err.filter((line) => line.includes("requires a password"))).toHaveLength(warnings);
    }
  });

  it("draws on the state file that is named, whoever answers on the configuration's address", async () => {
    await using folder = await temporaryFolder();
    await using daemon = await serve((_request, response) => {
      response.end(JSON.stringify(lagging));
    });
    const { flags, world, asked, server } = await startIndexer(folder.path, 3, daemon.url);
    await using _ = server;

    await statusOf({ ...flags, state: join(folder.path, "own.state.json") }, world);

    expect(asked()).toBe(1);
  });

  it("warns where a daemon counts the same budgets in another file", async () => {
    await using folder = await temporaryFolder();
    const { flags, world, server } = await startIndexer(folder.path, 3);
    await using _ = server;
    await using holder = await hold(folder.path, "http://127.0.0.1:9855");
    const { printed, ...own } = commandWorld({});

    await check(
      [],
      { ...flags, state: join(folder.path, "other.state.json") },
      { ...own.world, readFile: world.readFile },
    );

    expect(printed.err[0]).toMatch(
      new RegExp(
        `^Warning: the daemon at http://127.0.0.1:9855 \\(pid ${holder.pid}\\) counts its budgets in .+synclag.state.json, this check in .+other.state.json`,
      ),
    );
  });

  it("polls nothing of a budget that it cannot record", async () => {
    await using folder = await temporaryFolder();
    const { flags, world, asked, server } = await startIndexer(folder.path, 3);
    await using _ = server;

    const status = await statusOf({ ...flags, state: join(folder.path, "none", "state.json") }, world);

    expect(status).toBe("throttled");
    expect(asked()).toBe(0);
  });
});

/** Another process that holds the state file of this folder, and serves there. */
async function hold(folder: string, url: string): Promise<{ readonly pid: number } & AsyncDisposable> {
  const script = fileURLToPath(new URL("../support/holding-process.ts", import.meta.url));
  const args = ["--import", "tsx", script, join(folder, "synclag.state.json"), url];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
  await once(child.stdout, "data");
  return {
    pid: child.pid ?? 0,
    async [Symbol.asyncDispose]() {
      child.kill();
      await once(child, "exit");
    },
  };
}

/** What a check by itself finds the only target to be. */
async function statusOf(flags: CheckFlags, { readFile }: Pick<CommandWorld, "readFile">): Promise<unknown> {
  const { world, printed } = commandWorld({});
  await check([], { ...flags, format: "json" }, { ...world, readFile });
  return JSON.parse(printed.out[0] ?? "").targets[0].status;
}

/** An indexer whose budget leaves so many requests a day to checks, and a configuration of it. */
async function startIndexer(folder: string, spare: number, listen = "http://127.0.0.1:9855") {
  // The schedule's one poll a day may count twice at one instant.
  const limit = spare + 2;

  let requests = 0;
  const server = await serve((_request, response) => {
    requests += 1;
    response.end(JSON.stringify({ data: { _meta: { block: { number: 1_000 }, hasIndexingErrors: false } } }));
  });
  const config = `version: 1
listen: ${new URL(listen).host}
poll: { retries: 0 }
budgets: { few: { limit: ${limit}, per: day, scope: shared } }
chains: { base: { id: 8453, block_time: 2s } }
protocols:
  lockup:
    - { variant: subgraph, dialect: graph, url: "${server.url}/{chain}", schedule: "0 0 3 * * *", budget: few, chains: [base] }
`;
  const flags: CheckFlags = { config: join(folder, "chains.yaml"), format: "table" };
  const { world } = commandWorld({});
  const readFile = (path: string) => (path.endsWith("chains.yaml") ? config : world.readFile(path));
  return { flags, server, world: { readFile }, asked: () => requests };
}
