import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import type { Report } from "../../src/core/model/report.ts";
import { serve } from "../support/listener.ts";
import { holdAsAnother } from "../support/lock-holder.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { statusOfLaggingFleet } from "./daemon-status.ts";
import { type CommandResult, runCommand } from "./run-command.ts";

let lagging: Report;

beforeAll(async () => {
  lagging = await statusOfLaggingFleet();
});

describe("synclag check with a state file", () => {
  it("draws on what the schedule leaves of a budget, and counts what checks before it have spent", async () => {
    await using fleet = await startIndexer({ spare: 3 });

    const statuses = [];
    for (let round = 0; round < 5; round += 1) {
      statuses.push(await statusOf(fleet));
    }

    expect(fleet.asked()).toBe(3);
    expect(statuses).toEqual(["ok", "ok", "ok", "throttled", "throttled"]);
    expect(await readdir(fleet.path)).toEqual(["synclag.state.json"]);
  });

  it("counts what checks at the same time spend, and lets each have its turn", async () => {
    await using fleet = await startIndexer({ spare: 2 });

    const statuses = await Promise.all([1, 2, 3].map(() => statusOf(fleet)));

    expect(fleet.asked()).toBe(2);
    expect(statuses.sort()).toEqual(["ok", "ok", "throttled"]);
  });

  it("asks the daemon that holds the file, and says so", async () => {
    await using fleet = await startIndexer({ spare: 3 });
    await using daemon = await serve((_request, response) => response.end(JSON.stringify(lagging)));
    using holder = await holdAsAnother(
      join(fleet.path, "synclag.state.json"),
      daemon.url.replace("127.0.0.1", "0.0.0.0"),
    );

    const { exitCode, out, err } = await check(fleet, ["lockup/base"]);

    expect(exitCode).toBe(1);
    expect(fleet.asked()).toBe(0);
    expect(err).toMatch(
      new RegExp(
        `^Asking the running daemon at ${daemon.url} \\(pid ${holder.pid}\\), which holds .+synclag.state.json`,
      ),
    );
    expect(out).toContain("41 min behind");
  });

  it("asks the daemon on the configuration's address, wherever that keeps its state", async () => {
    await using daemon = await serve((_request, response) => response.end(JSON.stringify(lagging)));
    await using fleet = await startIndexer({ spare: 3, listen: daemon.url });

    const result = await check(fleet, ["lockup/base"], { SYNCLAG_STORE: "redis://127.0.0.1:9" });

    expect(fleet.asked()).toBe(0);
    expect(result).toEqual({
      exitCode: 1,
      err: `Asking the running daemon at ${daemon.url}, which serves this configuration; polling nothing`,
      out: expect.stringContaining("41 min behind"),
    });
  });

  it("polls itself if another server has that address", async () => {
    const others = [
      { httpStatus: 200, json: { ...lagging, targets: [] } },
      { httpStatus: 200, json: { hello: "world" } },
      { httpStatus: 401, json: {} },
    ];
    for (const { httpStatus, json } of others) {
      await using daemon = await serve((_request, response) => {
        response.statusCode = httpStatus;
        response.end(JSON.stringify(json));
      });
      await using fleet = await startIndexer({ spare: 3, listen: daemon.url });

      await check(fleet);

      expect(fleet.asked()).toBe(1);
    }
  });

  it("draws on the named state file, even if a daemon listens on the configured address", async () => {
    await using daemon = await serve((_request, response) => response.end(JSON.stringify(lagging)));
    await using fleet = await startIndexer({ spare: 3, listen: daemon.url });

    await check(fleet, ["--state", join(fleet.path, "own.state.json")]);

    expect(fleet.asked()).toBe(1);
  });

  it("polls nothing of a budget that it cannot record", async () => {
    await using fleet = await startIndexer({ spare: 3 });

    const status = await statusOf(fleet, ["--state", join(fleet.path, "none", "state.json")]);

    expect(status).toBe("throttled");
    expect(fleet.asked()).toBe(0);
  });
});

interface Indexer extends AsyncDisposable {
  /** Of the folder with the state file. */
  readonly path: string;
  readonly config: string;
  readonly asked: () => number;
}

/** An indexer whose budget leaves so many requests a day to checks, and a configuration of it. */
async function startIndexer({
  spare,
  listen = "http://127.0.0.1:9855",
}: {
  readonly spare: number;
  readonly listen?: string;
}): Promise<Indexer> {
  const folder = await temporaryFolder();
  let requests = 0;
  const server = await serve((_request, response) => {
    requests += 1;
    response.end(JSON.stringify({ data: { _meta: { block: { number: 1_000 }, hasIndexingErrors: false } } }));
  });
  // The schedule's one poll a day may count twice at one instant.
  const limit = spare + 2;
  const config = `version: 1
listen: ${new URL(listen).host}
poll: { retries: 0 }
budgets: { few: { limit: ${limit}, per: day, scope: shared } }
chains: { base: { id: 8453, block_time: 2s } }
protocols:
  lockup:
    - { variant: subgraph, dialect: graph, url: "${server.url}/{chain}", schedule: "0 0 3 * * *", budget: few, chains: [base] }
`;
  return {
    path: folder.path,
    config,
    asked: () => requests,
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]();
      await folder[Symbol.asyncDispose]();
    },
  };
}

function check(
  { path, config }: Indexer,
  args: readonly string[] = [],
  env: Readonly<Record<string, string>> = {},
): Promise<CommandResult> {
  const file = join(path, "chains.yaml");
  return runCommand(["check", "--config", file, ...args], { env, files: { [file]: config } });
}

/** What a check by itself finds the only target to be. */
async function statusOf(indexer: Indexer, args: readonly string[] = []): Promise<unknown> {
  const { out } = await check(indexer, ["--format", "json", ...args]);
  return JSON.parse(out).targets[0].status;
}
