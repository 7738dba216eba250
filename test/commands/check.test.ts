import { readFileSync } from "node:fs";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, it } from "vitest";
import { runCli } from "../../src/cli.ts";
import { type CheckFlags, check } from "../../src/commands/check.ts";
import type { CommandWorld } from "../../src/commands/command-world.ts";
import { statusJson } from "../../src/views/api/status.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { defaultFleetReport } from "../views/default-fleet-report.ts";

const FOLDER = await temporaryFolder();
const FLAGS: CheckFlags = { config: "chains.yaml", state: join(FOLDER.path, "state.json"), format: "table" };

afterAll(async () => {
  await FOLDER[Symbol.asyncDispose]();
});

const OPENAPI = JSON.stringify({ openapi: "3.1.0", info: { title: "Synclag", version: "9.8.7" }, paths: {} });

describe("check() of a daemon", () => {
  it("prints what the daemon says of the filters, and exits by it", async () => {
    await using daemon = await serve((request, response) => {
      response.statusCode = request.url === "/api/v1/status" ? 200 : 404;
      response.end(JSON.stringify(statusJson(defaultFleetReport())));
    });
    const { world, outLines, errLines } = createWorld();

    const codes = [
      await check(["airdrops/base"], { ...FLAGS, url: daemon.url }, world),
      await check(["lockup/base"], { ...FLAGS, url: `${daemon.url}/` }, world),
      await check(["lockup/base/subgraph"], { ...FLAGS, url: daemon.url }, world),
      await check([], { ...FLAGS, url: daemon.url }, world),
    ];

    expect(codes).toEqual([0, 1, 2, 2]);
    expect(outLines[0]).toContain("All 3 targets are ok");
    expect(errLines).toEqual([]);
  });

  it("speaks JSON and Prometheus too", async () => {
    await using daemon = await serve((_request, response) => {
      response.end(JSON.stringify(statusJson(defaultFleetReport())));
    });
    const { world, outLines } = createWorld();

    await check(["lockup/base"], { ...FLAGS, url: daemon.url, format: "json" }, world);
    await check(["lockup/base"], { ...FLAGS, url: daemon.url, format: "prometheus" }, world);

    expect(JSON.parse(outLines[0] ?? "")).toMatchObject({ chains: [{ slug: "base" }] });
    expect(outLines[1]).toMatch(/^# HELP synclag_up .*\n# TYPE synclag_up gauge\nsynclag_up\{/);
  });

  it("reads the status of a daemon of a later version, whose words it does not know", async () => {
    const json = statusJson(defaultFleetReport());
    const later = {
      ...json,
      mood: "fine",
      replica: { role: "observer", name: "a:1", leader: "b:2", age_seconds: 3, region: "eu" },
      incidents: json.incidents.map((incident) => ({ ...incident, scope: "region" })),
      targets: json.targets.map((target) => ({
        ...target,
        ...(target.protocol === "airdrops" ? { status: "resting", reason: "asleep" } : {}),
        mood: "fine",
      })),
    };
    await using daemon = await serve((request, response) => {
      response.end(request.url === "/openapi.json" ? OPENAPI : JSON.stringify(later));
    });
    const { world, outLines, errLines } = createWorld();

    const codes = [
      await check(["airdrops/base"], { ...FLAGS, url: daemon.url }, world),
      await check(["airdrops/base"], { ...FLAGS, url: daemon.url, format: "json" }, world),
      await check(["airdrops/base"], { ...FLAGS, url: daemon.url, format: "prometheus" }, world),
    ];

    expect(codes).toEqual([2, 2, 2]);
    expect(outLines[0]).toMatch(/^resting +airdrops\/base\/subgraph/m);
    expect(outLines[0]).not.toContain("targets are ok");
    expect(outLines[1]).toContain('"status": "resting"');
    expect(outLines[2]).not.toMatch(/status="ok"\} 1/);
    expect(errLines[0]).toContain(
      `Warning: the daemon at ${daemon.url} (version 9.8.7) reports statuses that this version`,
    );
    expect(errLines[0]).toMatch(/does not know, which count as not ok: resting$/);
  });

  it("reads the status of an earlier version, which lacks what may be null or empty", async () => {
    const { replica: _replica, parity: _parity, gaps: _gaps, ...json } = statusJson(defaultFleetReport());
    const targets = json.targets.map(
      ({ lag_extrapolated: _, maintenance: __, explorer: ___, ...target }) => target,
    );
    await using daemon = await serve((_request, response) => {
      response.end(JSON.stringify({ ...json, targets }));
    });
    const { world, errLines } = createWorld();

    const codes = [
      await check(["airdrops/base"], { ...FLAGS, url: daemon.url }, world),
      await check(["lockup/base"], { ...FLAGS, url: daemon.url, format: "prometheus" }, world),
    ];

    expect(errLines).toEqual([]);
    expect(codes).toEqual([0, 1]);
  });

  it("says the version of a daemon whose status it cannot read, and what it could not read", async () => {
    await using daemon = await serve((request, response) => {
      response.end(request.url === "/openapi.json" ? OPENAPI : JSON.stringify({ generated_at: 7 }));
    });
    const { world, errLines } = createWorld();

    const code = await check([], { ...FLAGS, url: daemon.url }, world);

    expect(code).toBe(3);
    expect(errLines[0]).toContain(
      `Cannot ask ${daemon.url}: Synclag 9.8.7 answered with a status that this version cannot read (generated_at: `,
    );
  });

  it("treats targets further behind than --max-lag as lagging", async () => {
    await using daemon = await serve((_request, response) => {
      response.end(JSON.stringify(statusJson(defaultFleetReport())));
    });
    const { world, outLines } = createWorld();

    const code = await check(["airdrops/base"], { ...FLAGS, url: daemon.url, maxLag: "1s" }, world);

    expect(code).toBe(1);
    expect(outLines[0]).toContain("3.6 s behind the reference, more than the --max-lag of 1 s");
  });

  it.each([
    {
      case: "another server",
      listener: (_request, response) => response.end("<html>"),
      problem: "answered with something other than a Synclag status: check the address",
    },
    {
      case: "a daemon in trouble",
      listener: (_request, response) => {
        response.statusCode = 500;
        response.end("{}");
      },
      problem: "answered with HTTP 500",
    },
    {
      case: "a server that hangs up",
      listener: (request) => request.socket.destroy(),
      problem: "the connection was closed before the answer was complete",
    },
  ] satisfies { case: string; listener: RequestListener; problem: string }[])(
    "says 3 and why for $case",
    async ({ listener, problem }) => {
      await using daemon = await serve(listener);
      const { world, outLines, errLines } = createWorld();

      const code = await check([], { ...FLAGS, url: daemon.url }, world);

      expect(code).toBe(3);
      expect(outLines).toEqual([]);
      expect(errLines).toEqual([`Cannot ask ${daemon.url}: ${problem}`]);
    },
  );
});

describe("check() by itself", () => {
  it("polls once what it needs, and tells the heights", async () => {
    const asked: string[] = [];
    await using indexers = await serve((request, response) => {
      asked.push(request.url ?? "");
      response.end(answer(request.url?.startsWith("/slow/") ? 1000 : 1100));
    });
    const { world, outLines } = createWorld(configOf(indexers.url));

    const code = await check(["lockup/base"], { ...FLAGS, format: "json" }, world);

    expect(asked.sort()).toEqual(["/fast/base", "/other/base", "/slow/base"]);
    const { targets } = JSON.parse(outLines[0] ?? "");
    expect(targets).toMatchObject([
      { variant: "fast", block_number: 1100, lag_blocks: 0, status: "ok" },
      { variant: "slow", block_number: 1000, lag_blocks: 100 },
    ]);
    expect(code).toBeLessThan(3);
  });

  it("shows its progress on a terminal alone, and takes it away", async () => {
    await using indexers = await serve((_request, response) => response.end(answer(1000)));
    const piped = createWorld(configOf(indexers.url));
    const terminal = createWorld(configOf(indexers.url), { errIsTerminal: true });

    await check(["lockup/base"], FLAGS, piped.world);
    await check(["lockup/base"], FLAGS, terminal.world);

    expect(piped.errLines).toEqual([]);
    expect(terminal.errLines[0]).toBe("Polling: 0 of 3 endpoints");
    expect(terminal.errLines).toContain("\u001B[1A\u001B[2KPolling: 3 of 3 endpoints");
    expect(terminal.errLines.at(-1)).toBe("\u001B[1A\u001B[2K\u001B[1A");
  });

  it("says 3 where nothing that it asks can be reached, whatever hosts it does not ask", async () => {
    const { world, outLines } = createWorld(`version: 1
chains:
  base: { id: 8453 }
  gnosis: { id: 100 }
protocols:
  lockup:
    - { variant: fast, url: "http://127.0.0.1:1/", chains: [base] }
    - { variant: slow, url: "http://127.0.0.1:2/{chain}", chains: { base: {}, gnosis: { url: "http://127.0.0.1:3/" } } }
`);

    const code = await check(["lockup/base"], { ...FLAGS, state: join(FOLDER.path, "cut-off.json") }, world);

    expect(code).toBe(3);
    expect(outLines[0]).toContain("Nothing can be reached");
  });

  it.each([
    { filters: ["lockup/bsae"], problem: "Cannot find chain 'bsae' of lockup (did you mean 'base'?)" },
    { filters: ["a/b/c/d"], problem: "Cannot use filter 'a/b/c/d'" },
  ])("tells what is wrong with $filters before it polls anything", async ({ filters, problem }) => {
    const asked: string[] = [];
    await using indexers = await serve((request, response) => {
      asked.push(request.url ?? "");
      response.end(answer(1000));
    });
    const { world, errLines } = createWorld(configOf(indexers.url));

    const code = await check(filters, FLAGS, world);

    expect(code).toBe(3);
    expect(errLines[0]).toContain(problem);
    expect(asked).toEqual([]);
  });

  it.each([
    { flags: { ...FLAGS, maxLag: "soon" }, problem: 'Cannot use --max-lag "soon"' },
    {
      flags: { ...FLAGS, url: "here" },
      problem: "--url: Cannot use this URL: expected http:// or https://, found no scheme",
    },
  ])("says 3 for $problem", async ({ flags, problem }) => {
    const { world, errLines } = createWorld("chains: {}\n");

    const code = await check([], flags, world);

    expect(code).toBe(3);
    expect(errLines[0]).toContain(problem);
  });

  it("colours for a terminal, unless NO_COLOR is set", async () => {
    await using daemon = await serve((_request, response) => {
      response.end(JSON.stringify(statusJson(defaultFleetReport())));
    });
    const terminal = createWorld("", { outIsTerminal: true, outColumns: 60 });
    const plain = createWorld("", { outIsTerminal: true, env: { NO_COLOR: "1" } });

    await check([], { ...FLAGS, url: daemon.url }, terminal.world);
    await check([], { ...FLAGS, url: daemon.url }, plain.world);

    expect(terminal.outLines[0]).toContain("\u001B[31;1m");
    expect(terminal.outLines[0]).toContain("…");
    expect(plain.outLines[0]).not.toContain("\u001B");
  });
});

describe("runCli() of check", () => {
  it.each([
    { argv: ["check", "--nonsense"], code: 3 },
    { argv: ["check", "--format", "xml"], code: 3 },
    { argv: ["check", "--url", "http://127.0.0.1:1", "--config", "x.yaml"], code: 3 },
    { argv: ["check", "--help"], code: 0 },
    { argv: ["plan", "--nonsense"], code: 2 },
  ])("exits with $code for $argv", async ({ argv, code }) => {
    const { world } = createWorld();

    expect(await runCli(["node", "synclag", ...argv], world)).toBe(code);
  });
});

function configOf(url: string): string {
  return `version: 1
chains:
  base: { id: 8453, name: Base, block_time: 2s }
  gnosis: { id: 100, name: Gnosis, block_time: 5s }
protocols:
  lockup:
    - { variant: fast, dialect: graph, url: "${url}/fast/{chain}", chains: [base, gnosis] }
    - { variant: slow, dialect: graph, url: "${url}/slow/{chain}", chains: [base] }
  airdrops:
    - { variant: other, dialect: graph, url: "${url}/other/{chain}", chains: [base, gnosis] }
`;
}

function answer(block: number): string {
  return JSON.stringify({ data: { _meta: { block: { number: block }, hasIndexingErrors: false } } });
}

async function serve(listener: RequestListener): Promise<{ readonly url: string } & AsyncDisposable> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  // A server that listens on a TCP port has an address with a port.
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** A world whose chains.yaml holds `config`. */
function createWorld(config = "", overrides: Partial<CommandWorld> = {}) {
  const outLines: string[] = [];
  const errLines: string[] = [];
  const world: CommandWorld = {
    env: {},
    packageRoot: fileURLToPath(new URL("../../", import.meta.url)),
    nodeVersion: process.version,
    readFile: (path) => (path === "chains.yaml" ? config : readFileSync(path, "utf8")),
    out: (line) => outLines.push(line),
    err: (line) => errLines.push(line),
    outIsTerminal: false,
    errIsTerminal: false,
    nowMs: Date.now,
    monotonicMs: () => performance.now(),
    random: () => 0.5,
    onSignal: () => undefined,
    keepSecret: () => undefined,
    crash: (error) => {
      throw error;
    },
    ...overrides,
  };
  return { world, outLines, errLines };
}
