import { writeFile } from "node:fs/promises";
import type { RequestListener } from "node:http";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Report } from "../../src/core/model/report.ts";
import { serve } from "../support/listener.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { statusOfLaggingFleet } from "./daemon-status.ts";
import { type CommandOptions, runCommand } from "./run-command.ts";

const folder = await temporaryFolder();
const STATE = ["--state", join(folder.path, "state.json")];
let lagging: Report;

beforeAll(async () => {
  lagging = await statusOfLaggingFleet();
});

afterAll(() => folder[Symbol.asyncDispose]());

describe("synclag check of a daemon", () => {
  it("exits with 0 if all targets are ok, 1 if another variant is, and 2 if none is", async () => {
    await using daemon = await serveStatus(lagging);
    const url = ["--url", daemon.url];

    const results = [
      await check([...url, "airdrops/base"]),
      await check(["--url", `${daemon.url}/`, "lockup/base"]),
      await check([...url, "lockup/base/subgraph"]),
      await check([...url, "--max-lag", "1s", "airdrops/base"]),
      await check([...url, "--max-lag", "1h", "lockup/base/subgraph"]),
    ];

    expect(results.map(({ exitCode, err }) => [exitCode, err])).toEqual([
      [0, ""],
      [1, ""],
      [2, ""],
      [0, ""],
      [2, ""],
    ]);
    expect(results[0]?.out).toContain("All 2 targets are ok");
  });

  it("prints one line with performance data for monitoring plugins", async () => {
    await using daemon = await serveStatus(lagging);

    const one = await check(["--url", daemon.url, "--format", "nagios", "airdrops/base"]);
    const all = await check(["--url", daemon.url, "--format", "nagios"]);

    expect([one.exitCode, one.out]).toEqual([
      0,
      expect.stringMatching(
        /^SYNCLAG OK: All 2 targets are ok, at the head \| targets=2;;;0 ok=2;;;0;2 max_lag=[\d.]+s;;;0$/,
      ),
    ]);
    expect(all.out).toMatch(
      /^SYNCLAG (?:WARNING|CRITICAL): [^|\n]+ \| targets=\d+;;;0 ok=\d+;;;0;\d+ max_lag=\d[\d.]*s;;;0$/,
    );
  });

  it("reads the status of a later version with unknown words", async () => {
    const later = {
      ...lagging,
      mood: "fine",
      replica: { role: "observer", name: "a:1", leader: "b:2", age_seconds: 3, region: "eu" },
      incidents: lagging.incidents.map((incident) => ({ ...incident, scope: "region" })),
      targets: lagging.targets.map((target) => ({
        ...target,
        ...(target.protocol === "airdrops" ? { status: "resting", reason: "asleep" } : {}),
        mood: "fine",
      })),
    };
    await using daemon = await serveStatus(later);
    const args = ["--url", daemon.url, "airdrops/base"];

    const results = [
      await check(args),
      await check([...args, "--format", "json"]),
      await check([...args, "--format", "prometheus"]),
    ];

    expect(results.map(({ exitCode }) => exitCode)).toEqual([2, 2, 2]);
    expect(results[0]?.out).toMatch(/^resting +airdrops\/base\/subgraph/m);
    expect(results[1]?.out).toContain('"status": "resting"');
    expect(results[2]?.out).not.toMatch(/status="ok"\} 1/);
  });

  it("reads the status of an earlier version, which lacks what may be null or empty", async () => {
    const { replica: _replica, parity: _parity, gaps: _gaps, ...json } = lagging;
    const targets = json.targets.map(
      ({ lag_extrapolated: _, maintenance: __, explorer: ___, ...target }) => target,
    );
    await using daemon = await serveStatus({ ...json, targets });

    const results = [
      await check(["--url", daemon.url, "airdrops/base"]),
      await check(["--url", daemon.url, "lockup/base", "--format", "prometheus"]),
    ];

    expect(results.map(({ exitCode, err }) => [exitCode, err])).toEqual([
      [0, ""],
      [1, ""],
    ]);
  });

  it("exits with 3 and the reason if no status can be read", async () => {
    const servers: Readonly<Record<string, RequestListener>> = {
      "answered with something other than a Synclag status of this version (: ": (_request, response) =>
        response.end("<html>"),
      "answered with HTTP 500": (_request, response) => {
        response.statusCode = 500;
        response.end("{}");
      },
      "the connection was closed before the answer was complete": (request) => request.socket.destroy(),
      "answered with something other than a Synclag status of this version (generated_at: ": (
        _request,
        response,
      ) => response.end(JSON.stringify({ generated_at: 7 })),
    };

    for (const [problem, listener] of Object.entries(servers)) {
      await using daemon = await serve(listener);

      const { exitCode, out, err } = await check(["--url", daemon.url]);

      expect([exitCode, out]).toEqual([3, ""]);
      expect(err).toContain(`Cannot ask ${daemon.url}: ${problem}`);
    }
  });

  it("sends user and password, also from a variable or a file, and keeps them secret", async () => {
    const seen: (string | undefined)[] = [];
    const kept: string[] = [];
    await using daemon = await serve((request, response) => {
      seen.push(request.headers.authorization);
      response.statusCode = 401;
      response.end();
    });
    const file = join(folder.path, "password");
    await writeFile(file, "open sesame\n");

    const host = `127.0.0.1:${daemon.port}/synclag/`;
    const results = [];
    // `50%` cannot stand in a URL, but it does not end the program either.
    for (const user of ["", "a:b%20c@", "a:50%@", `a:\${PASSWORD}@`, `a:\${file:${file}}@`]) {
      const options = {
        env: { PASSWORD: "p@ss/w:ord%" },
        world: { keepSecret: (texts: readonly string[]) => void kept.push(...texts) },
      };
      results.push(await check(["--url", `http://${user}${host}`], options));
    }

    const basic = (pair: string) => `Basic ${Buffer.from(pair).toString("base64")}`;
    expect(seen).toEqual([
      undefined,
      basic("a:b c"),
      basic("a:50%"),
      basic("a:p@ss/w:ord%"),
      basic("a:open sesame"),
    ]);
    expect(kept).toEqual(expect.arrayContaining(["p@ss/w:ord%", "open sesame", "open%20sesame"]));
    expect(results.map(({ err }) => err)).toEqual(
      results.map(
        () =>
          `Cannot ask ${daemon.url}: answered with HTTP 401; name a user as in --url 'https://USER:\${PASSWORD}@HOST:PORT'`,
      ),
    );
  });

  it("colours for a terminal, unless NO_COLOR is set and not empty, and fits its width", async () => {
    await using daemon = await serveStatus(lagging);
    const worlds: readonly CommandOptions[] = [
      { world: { outIsTerminal: true, outColumns: 60 } },
      { world: { outIsTerminal: true }, env: { NO_COLOR: "" } },
      { world: { outIsTerminal: true }, env: { NO_COLOR: "0" } },
      { world: { errIsTerminal: true } },
      {},
    ];

    const outputs = [];
    for (const options of worlds) {
      outputs.push((await check(["--url", daemon.url], options)).out);
    }

    expect(outputs.map((out) => out.includes("\u001B[3"))).toEqual([true, true, false, false, false]);
    expect(outputs.map((out) => out.includes("…"))).toEqual([true, false, false, false, false]);
  });
});

describe("synclag check by itself", () => {
  it("polls once what the filter needs, and tells the heights", async () => {
    const asked: string[] = [];
    await using indexers = await serve((request, response) => {
      asked.push(request.url ?? "");
      response.end(answer(request.url?.startsWith("/slow/") ? 1000 : 1100));
    });

    const { exitCode, out } = await check(
      [...STATE, "lockup/base", "--format", "json"],
      fleetOf(indexers.url),
    );

    expect(asked.sort()).toEqual(["/all", "/fast/base", "/other/base", "/slow/base"]);
    expect(JSON.parse(out)).toMatchObject({
      targets: [
        { variant: "fast", block_number: 1100, lag_blocks: 0, status: "ok" },
        { variant: "slow", block_number: 1000, lag_blocks: 100 },
      ],
    });
    expect(exitCode).toBeLessThan(3);
  });

  it("exits with 3 if none of the selected hosts can be reached", async () => {
    const fleet = `version: 1
chains:
  base: { id: 8453 }
  gnosis: { id: 100 }
protocols:
  lockup:
    - { variant: fast, url: "http://127.0.0.1:1/", chains: [base] }
    - { variant: slow, url: "http://127.0.0.1:2/{chain}", chains: { base: {}, gnosis: { url: "http://127.0.0.1:3/" } } }
`;

    const { exitCode, out } = await check(["--state", join(folder.path, "cut-off.json"), "lockup/base"], {
      files: { "chains.yaml": fleet },
    });

    expect(exitCode).toBe(3);
    expect(out).toContain("Nothing can be reached");
  });
});

function check(args: readonly string[], options: CommandOptions = {}) {
  return runCommand(["check", ...args], options);
}

function serveStatus(json: unknown) {
  return serve((request, response) => {
    response.statusCode = request.url === "/api/v1/status" ? 200 : 404;
    response.end(JSON.stringify(json));
  });
}

function fleetOf(url: string): CommandOptions {
  const text = `version: 1
chains:
  base: { id: 8453, name: Base, block_time: 2s }
  gnosis: { id: 100, name: Gnosis, block_time: 5s }
protocols:
  lockup:
    - { variant: fast, dialect: graph, url: "${url}/fast/{chain}", chains: [base, gnosis] }
    - { variant: slow, dialect: graph, url: "${url}/slow/{chain}", chains: [base] }
  airdrops:
    - { variant: other, dialect: graph, url: "${url}/other/{chain}", chains: [base, gnosis] }
    - { variant: all, dialect: ponder, url: "${url}/all", chains: [base, gnosis] }
    - { variant: elsewhere, dialect: ponder, url: "${url}/elsewhere", chains: [gnosis] }
`;
  return { files: { "chains.yaml": text } };
}

function answer(block: number): string {
  return JSON.stringify({ data: { _meta: { block: { number: block }, hasIndexingErrors: false } } });
}
