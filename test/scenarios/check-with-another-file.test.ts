import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it, vi } from "vitest";
import type { App } from "../../src/app/app.ts";
import { check } from "../../src/commands/check.ts";
import type { Report } from "../../src/core/model/report.ts";
import { commandWorld } from "../support/command-world.ts";
import { serve } from "../support/listener.ts";
import { configOf, startTestApp } from "../support/running-app.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

/** Of another chain. */
const FAR = 5_000_000;
const WAIT = { timeout: 20_000 };

function chainsYaml(multichain: string, subgraph: string | null, node: string): string {
  const indexer = (variant: string, url: string) =>
    `    - { variant: ${variant}, url: "${url}", schedule: "0 0 0 1 1 *", chains: [base] }`;
  return `
version: 1
poll: { rpc_schedule: "0 0 0 1 1 *" }
chains: { base: { id: 8453, block_time: 2s, rpc: ["${node}"] } }
protocols:
  airdrops:
${indexer("multichain", multichain)}
${subgraph === null ? "" : indexer("subgraph", subgraph)}
`;
}

describe("`check` with another configuration in the folder of a daemon's state file", () => {
  it("leaves the daemon's state unchanged, and no URL in the file", async () => {
    await using folder = await temporaryFolder();
    await using indexer = await serveJson(indexerAt(FAR));
    await using other = await serveJson(indexerAt(FAR));
    await using wrong = await serveJson(nodeAt(0));
    await using right = await serveJson(nodeAt(FAR));
    const stateFile = join(folder.path, "synclag.state.json");
    const daemons = configOf(chainsYaml(indexer.url, other.url, right.url));
    const others = join(folder.path, "other.yaml");
    await writeFile(others, chainsYaml(wrong.url, null, wrong.url));
    const before = await startTestApp(daemons, { stateFile });
    await vi.waitFor(
      async () => expect((await statusOf(before)).chains).toMatchObject([{ reference: { sources: 3 } }]),
      WAIT,
    );
    await before[Symbol.asyncDispose]();
    const asked = [other, right].map((server) => server.asked());

    await check([], { config: others, format: "json" }, commandWorld({}).world);
    await using after = await startTestApp(daemons, { stateFile });

    const { chains, targets } = await statusOf(after);
    expect(await readFile(stateFile, "utf8")).not.toContain("http");
    expect(targets.map(({ status, variant }) => `${variant} ${status}`)).toContain("subgraph ok");
    expect(targets.map(({ status }) => status)).not.toContain("diverged");
    expect(JSON.stringify(chains)).not.toContain(new URL(wrong.url).host);
    expect([other, right].map((server) => server.asked())).toEqual(asked);
  });
});

/** A chain that makes a block each two seconds. */
function headNow(): number {
  return Math.floor(Date.now() / 2_000);
}

function indexerAt(ahead: number): () => unknown {
  return () => ({ data: { _meta: { block: { number: headNow() + ahead } } } });
}

function nodeAt(ahead: number): () => unknown {
  const hex = (value: number) => `0x${value.toString(16)}`;
  return () => {
    const timestamp = hex(Math.floor(Date.now() / 1_000));
    return { jsonrpc: "2.0", id: 1, result: { number: hex(headNow() + ahead), timestamp, hash: null } };
  };
}

async function statusOf({ url }: Pick<App, "url">): Promise<Report> {
  // What the route answers, by its schema.
  return (await (await fetch(`${url}/api/v1/status`)).json()) as Report;
}

/** Answers everything with this JSON; `asked` counts the requests. */
async function serveJson(answer: () => unknown) {
  let asked = 0;
  const server = await serve((request, response) => {
    asked += 1;
    request.resume();
    response.end(JSON.stringify(answer()));
  });
  return { ...server, asked: () => asked };
}
