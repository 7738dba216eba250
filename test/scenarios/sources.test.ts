import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it, vi } from "vitest";
import type { App } from "../../src/app/app.ts";
import { check } from "../../src/commands/check.ts";
import type { StatusJson } from "../../src/views/api/api-schema.ts";
import { commandWorld } from "../support/command-world.ts";
import { serveJson } from "../support/json-server.ts";
import { configOf, startTestApp } from "../support/running-app.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { VirtualFleet } from "../support/virtual-fleet.ts";

vi.setConfig({ testTimeout: 60_000 });

const [A, B, C] = ["https://a.test/", "https://b.test/", "https://c.test/"] as const;
const [GOOD, WRONG] = ["https://good.test/key", "https://wrong.test/key"] as const;
/** Of another chain. */
const FAR = 5_000_000;

interface Configured {
  readonly nodes?: readonly string[];
  readonly multichain?: string;
  readonly subgraph?: string | null;
  readonly schedule?: string;
  readonly id?: number;
}

function chainsYaml({
  nodes = [],
  multichain = A,
  subgraph = B,
  schedule = "*/15 * * * * *",
  id = 8453,
}: Configured): string {
  const indexer = (variant: string, url: string) =>
    `    - { variant: ${variant}, url: "${url}", dialect: graph, schedule: "${schedule}", chains: [base] }`;
  return `
version: 1
poll: { rpc_schedule: "${schedule}" }
chains: { base: { id: ${id}, block_time: 2s, rpc: ${JSON.stringify(nodes)} } }
protocols:
  airdrops:
${indexer("multichain", multichain)}
${subgraph === null ? "" : indexer("subgraph", subgraph)}
`;
}

/** Polls all of these for two minutes; what they report is the head, and so many blocks more. */
function poll(fleet: VirtualFleet, ahead: Readonly<Record<string, number>>): void {
  for (let round = 0; round < 8; round += 1) {
    fleet.wait(15);
    for (const [url, blocks] of Object.entries(ahead)) {
      const block = 10_000_000 + Math.floor(fleet.now / 2) + blocks;
      fleet.reply(url, url.endsWith("key") ? { block, timestampSec: fleet.now } : { block });
    }
  }
}

describe("a reload that removes a source", () => {
  it("leaves nothing of the first of two RPC nodes to the second", () => {
    const fleet = new VirtualFleet(chainsYaml({ nodes: [WRONG, GOOD] }));
    poll(fleet, { [A]: 0, [B]: 0, [GOOD]: 0, [WRONG]: FAR });
    const before = fleet.status().chains[0]?.reference;

    fleet.reload(chainsYaml({ nodes: [GOOD] }));

    const after = fleet.status().chains[0]?.reference;
    expect(before).toMatchObject({
      sources: 3,
      opposed: [{ source: expect.stringContaining("wrong.test") }],
    });
    expect(after).toMatchObject({ sources: 3, opposed: [], block_number: before?.block_number });
    expect(after?.members.filter((key) => key.includes("good.test"))).toHaveLength(1);
    expect(fleet.target("multichain")).toMatchObject({ status: "ok", lag_blocks: 0 });
  });

  it.each([
    { removed: "the RPC node", next: { nodes: [] } },
    { removed: "the first target", next: { nodes: [GOOD], multichain: C } },
    { removed: "the second target", next: { nodes: [GOOD], subgraph: C } },
  ])("does not count $removed among the sources that agree", ({ next }) => {
    const fleet = new VirtualFleet(chainsYaml({ nodes: [GOOD] }));
    poll(fleet, { [A]: 0, [B]: 0, [GOOD]: 0 });

    fleet.reload(chainsYaml(next));

    expect(fleet.status().chains[0]?.reference).toMatchObject({ sources: 2 });
  });

  it("absolves a target at once that only the removed RPC node contradicted", () => {
    const fleet = new VirtualFleet(chainsYaml({ nodes: [WRONG], subgraph: null }));
    poll(fleet, { [A]: FAR, [WRONG]: 0 });
    const before = fleet.target("multichain");

    fleet.reload(chainsYaml({ subgraph: null }));

    const after = fleet.target("multichain");
    expect(before).toMatchObject({ status: "diverged", detail: expect.stringContaining("an RPC node") });
    expect(after).toMatchObject({ status: "ok", reason: null, up: true });
    expect(after.detail).not.toContain("RPC");
    expect(fleet.status().chains[0]?.reference).toBeNull();
  });

  it("does not take what a target said at another URL, or on another chain, for what it says now", () => {
    for (const next of [{ multichain: C }, { id: 84_532 }]) {
      const fleet = new VirtualFleet(chainsYaml({}));
      poll(fleet, { [A]: 0, [B]: 0 });

      fleet.reload(chainsYaml(next));

      expect(fleet.target("multichain")).toMatchObject({
        status: "unknown",
        block_number: null,
        last_success: null,
        detail: "not polled yet",
      });
      expect(fleet.status()).toMatchObject({ gaps: [], chains: [{ reference: null }] });
    }
  });

  it("keeps everything where nothing is removed", () => {
    const fleet = new VirtualFleet(chainsYaml({ nodes: [GOOD] }));
    poll(fleet, { [A]: 0, [B]: -30, [GOOD]: 0 });
    const before = fleet.status();

    fleet.reload(chainsYaml({ nodes: [WRONG, GOOD] }));

    expect(fleet.status()).toEqual(before);
  });
});

describe("two RPC nodes", () => {
  it("are named by their hosts, and nothing shows the key in a URL", () => {
    const fleet = new VirtualFleet(
      chainsYaml({ nodes: ["https://node.test/v1/key", "https://node.test/v2/key"] }),
    );
    poll(fleet, { [A]: 0, [B]: 0, "https://node.test/v1/key": 0, "https://node.test/v2/key": 0 });

    const members = fleet.status().chains[0]?.reference?.members ?? [];

    expect(new Set(members).size).toBe(4);
    expect(members.filter((key) => key.startsWith("rpc/base/node.test/"))).toHaveLength(2);
    expect(JSON.stringify(members)).not.toMatch(/v1|v2|key/);
  });

  it("cannot be the same", () => {
    expect(() => configOf(chainsYaml({ nodes: [GOOD, WRONG, `${GOOD}#x`] }))).toThrow(
      'chains.base.rpc[2]: Cannot list a node twice: this URL is in the list of chain "base" already',
    );
  });
});

/** A chain that makes a block each two seconds. */
function headNow(): number {
  return Math.floor(Date.now() / 2_000);
}

function indexerAt(ahead: number) {
  return serveJson(() => ({ data: { _meta: { block: { number: headNow() + ahead } } } }));
}

function nodeAt(ahead: number) {
  return serveJson(() => ({
    jsonrpc: "2.0",
    id: 1,
    result: {
      number: `0x${(headNow() + ahead).toString(16)}`,
      timestamp: `0x${Math.floor(Date.now() / 1_000).toString(16)}`,
      hash: null,
    },
  }));
}

async function statusOf({ url }: Pick<App, "url">): Promise<StatusJson> {
  // What the route answers, by its schema.
  return (await (await fetch(`${url}/api/v1/status`)).json()) as StatusJson;
}

const OFTEN = "* * * * * *";
const YEARLY = "0 0 0 1 1 *";

describe("the state file", () => {
  it("has nothing to say of an RPC node that a reload has removed, after a restart", async () => {
    await using folder = await temporaryFolder();
    await using indexer = await indexerAt(FAR);
    await using node = await nodeAt(0);
    const stateFile = join(folder.path, "synclag.state.json");
    const configured = { multichain: indexer.url, subgraph: null };
    const next = configOf(chainsYaml({ ...configured, schedule: YEARLY }));
    const before = await startTestApp(
      configOf(chainsYaml({ ...configured, nodes: [node.url], schedule: OFTEN })),
      { stateFile, loadConfig: () => next },
    );
    await vi.waitFor(
      async () => expect((await statusOf(before)).targets).toMatchObject([{ status: "diverged" }]),
      20_000,
    );
    await before.reload();
    await before[Symbol.asyncDispose]();

    await using after = await startTestApp(next, { stateFile });

    const { chains, targets } = await statusOf(after);
    expect(targets).toMatchObject([{ status: "ok", reason: null }]);
    expect(chains).toMatchObject([{ reference: null }]);
  });

  it.each([
    { case: "used for the same URL and chain", path: "", id: 8453, isUsed: true },
    { case: "not used for another URL", path: "other", id: 8453, isUsed: false },
    { case: "not used for another chain", path: "", id: 84_532, isUsed: false },
  ])("is $case", async ({ id, isUsed, path }) => {
    await using folder = await temporaryFolder();
    await using indexer = await indexerAt(0);
    const stateFile = join(folder.path, "synclag.state.json");
    const before = await startTestApp(
      configOf(chainsYaml({ multichain: indexer.url, subgraph: null, schedule: OFTEN })),
      { stateFile },
    );
    await vi.waitFor(
      async () => expect((await statusOf(before)).targets[0]?.last_advance).not.toBeNull(),
      20_000,
    );
    await before[Symbol.asyncDispose]();

    const config = { multichain: `${indexer.url}${path}`, id, subgraph: null, schedule: YEARLY };
    await using after = await startTestApp(configOf(chainsYaml(config)), { stateFile });

    await vi.waitFor(
      async () => expect((await statusOf(after)).targets).toMatchObject([{ up: true }]),
      20_000,
    );
    expect((await statusOf(after)).targets[0]?.last_advance !== null).toBe(isUsed);
  });

  it("is not poisoned by `check` with another configuration, and keeps what that one lacks", async () => {
    await using folder = await temporaryFolder();
    await using indexer = await indexerAt(FAR);
    await using other = await indexerAt(FAR);
    await using wrong = await nodeAt(0);
    await using right = await nodeAt(FAR);
    const stateFile = join(folder.path, "synclag.state.json");
    const daemons = chainsYaml({
      multichain: indexer.url,
      subgraph: other.url,
      nodes: [right.url],
      schedule: YEARLY,
    });
    const others = join(folder.path, "other.yaml");
    await writeFile(
      others,
      chainsYaml({ multichain: wrong.url, subgraph: null, nodes: [wrong.url], schedule: YEARLY }).replace(
        "dialect: graph",
        "dialect: auto",
      ),
    );
    const before = await startTestApp(configOf(daemons), { stateFile });
    await vi.waitFor(async () => {
      const { chains, targets } = await statusOf(before);
      expect(targets).toMatchObject([{ status: "ok" }, { status: "ok" }]);
      expect(chains).toMatchObject([{ reference: { sources: 3 } }]);
    }, 20_000);
    await before[Symbol.asyncDispose]();
    const asked = [indexer, other, right].map((server) => server.asked());

    await check([], { config: others, format: "json" }, commandWorld({}).world);
    await using after = await startTestApp(configOf(daemons), { stateFile });

    const { chains, targets } = await statusOf(after);
    expect(await readFile(stateFile, "utf8")).not.toContain("http");
    expect(targets.map(({ status, variant }) => `${variant} ${status}`)).toContain("subgraph ok");
    expect(targets.map(({ status }) => status)).not.toContain("diverged");
    expect(JSON.stringify(chains)).not.toContain(new URL(wrong.url).host);
    expect([other, right].map((server) => server.asked())).toEqual(asked.slice(1));
  });
});
