import { describe, expect, it } from "vitest";
import type { FaultName } from "../../src/sim/fleet/fault-list.ts";
import { type Scenario, startScenario } from "../support/scenario.ts";

/** Two multi-chain indexers on one host, a subgraph for each of their chains on another one, and an indexer with a host of its own. */
const FLEET = `
version: 1
thresholds: { lagging: 30s, critical: 10m, stalled: 1m }
poll: { rpc_schedule: "*/20 * * * * *" }
chains:
  base: { id: 1, block_time: 1s }
  form: { id: 2, block_time: 1s }
  mode: { id: 3, block_time: 1s }
  sei: { id: 4, block_time: 1s, rpc: ["https://sei.example/rpc"] }
protocols:
  airdrops:
    - { variant: multichain, dialect: envio, url: "https://envio.example/airdrops/v1/graphql", schedule: "*/20 * * * * *", chains: [base, form, mode, sei] }
    - { variant: subgraph, dialect: graph, url: "https://graph.example/airdrops/{chain}", schedule: "*/20 * * * * *", chains: [base, form, mode, sei] }
  lockup:
    - { variant: multichain, dialect: envio, url: "https://envio.example/lockup/v1/graphql", schedule: "*/20 * * * * *", chains: [base, form, mode, sei] }
    - { variant: subgraph, dialect: graph, url: "https://graph.example/lockup/{chain}", schedule: "*/20 * * * * *", chains: [base, form, mode, sei] }
  vaults:
    - { variant: subgraph, dialect: graph, url: "https://vaults.example/{chain}", schedule: "*/20 * * * * *", chains: [base, form] }
`;

interface Fault {
  readonly what: string;
  readonly happens: (play: Scenario) => void;
  readonly says: readonly string[];
}

describe("one cause of many failures", () => {
  it.each<Fault>([
    { what: "nothing is wrong", happens: () => undefined, says: [] },
    {
      what: "one target fails",
      happens: (play) => fail(play, "airdrops/subgraph/production/base"),
      says: [],
    },
    {
      what: "targets fail that have nothing in common",
      happens: (play) => {
        fail(play, "airdrops/subgraph/production/base");
        fail(play, "lockup/subgraph/production/sei");
      },
      says: [],
    },
    {
      what: "an endpoint with all chains of an indexer fails",
      happens: (play) => fail(play, "airdrops/multichain/production/all"),
      says: ["4 of 4 targets of airdrops/multichain/production return no usable answer"],
    },
    {
      what: "an indexer with a host of its own fails",
      happens: (play) => play.setHost("vaults.example", "down"),
      says: ["2 of 2 targets of vaults/subgraph/production return no usable answer"],
    },
    {
      what: "three of four endpoints of an indexer reject the key",
      happens: (play) => {
        for (const chain of ["base", "form", "sei"]) {
          play.fleet.endpoint(`airdrops/subgraph/production/${chain}`).fail("unknown_key");
        }
      },
      says: ["3 of 4 targets of airdrops/subgraph/production reject our key"],
    },
    {
      what: "two of four endpoints of an indexer fail, which is not most of it",
      happens: (play) => {
        fail(play, "airdrops/subgraph/production/base");
        fail(play, "airdrops/subgraph/production/form");
      },
      says: [],
    },
    {
      what: "an indexer limits our requests",
      happens: (play) => play.fleet.endpoint("lockup/multichain/production/all").fail("http_429"),
      says: ["4 of 4 targets of lockup/multichain/production are throttled"],
    },
    {
      what: "the subgraphs of a protocol do not exist any more",
      happens: (play) => {
        for (const endpoint of play.fleet.endpoints("lockup/subgraph/production/*")) {
          endpoint.fail("subgraph_not_found");
        }
      },
      says: ["4 of 4 targets of lockup/subgraph/production are not found"],
    },
    {
      what: "three chains are missing from an answer, and the fourth does not advance",
      happens: (play) => {
        play.fleet.target("airdrops/multichain/production/base").freeze();
        for (const chain of ["form", "mode", "sei"]) {
          play.fleet.target(`airdrops/multichain/production/${chain}`).set({ rows: 0 });
        }
      },
      says: ["3 of 4 targets of airdrops/multichain/production are missing from the answer"],
    },
    {
      what: "two chains are missing from an answer, and two do not advance",
      happens: (play) => {
        for (const chain of ["base", "form"]) {
          play.fleet.target(`airdrops/multichain/production/${chain}`).freeze();
        }
        for (const chain of ["mode", "sei"]) {
          play.fleet.target(`airdrops/multichain/production/${chain}`).set({ rows: 0 });
        }
      },
      says: [],
    },
    {
      what: "the deployments of an indexer fail",
      happens: (play) => {
        for (const target of play.fleet.targets("airdrops/subgraph/production/*")) {
          target.set({ indexingErrors: true });
        }
      },
      says: ["4 of 4 targets of airdrops/subgraph/production report a failed deployment"],
    },
    {
      what: "an indexer slows down on most of its chains",
      happens: (play) => {
        for (const chain of ["base", "form", "mode"]) {
          play.fleet.target(`lockup/multichain/production/${chain}`).slow(0.3);
        }
      },
      says: ["3 of 4 targets of lockup/multichain/production lag or have stopped"],
    },
    {
      what: "all endpoints of a host fail",
      happens: (play) => play.setHost("graph.example", "down"),
      says: ["8 of 8 targets of host graph.example return no usable answer"],
    },
    {
      what: "all endpoints of a host but one fail",
      happens: (play) => {
        fail(play, "airdrops/subgraph/production/*");
        for (const chain of ["form", "mode", "sei"]) {
          fail(play, `lockup/subgraph/production/${chain}`);
        }
      },
      says: [
        "4 of 4 targets of airdrops/subgraph/production return no usable answer",
        "3 of 4 targets of lockup/subgraph/production return no usable answer",
      ],
    },
    {
      what: "a chain stands still",
      happens: (play) => play.fleet.chain("mode").halt(),
      says: ["4 of 4 targets of chain mode lag or have stopped"],
    },
    {
      what: "a chain stands still, as an RPC node shows",
      happens: (play) => play.fleet.chain("sei").halt(),
      says: ["4 of 4 targets of chain sei have stopped because the chain has halted"],
    },
    {
      what: "a chain stands still, and one of its indexers does not answer",
      happens: (play) => {
        play.fleet.chain("mode").halt();
        fail(play, "lockup/subgraph/production/mode");
      },
      says: ["3 of 4 targets of chain mode lag or have stopped"],
    },
    {
      what: "all indexers of a chain but one stand still",
      happens: (play) => {
        for (const indexer of ["airdrops/multichain", "airdrops/subgraph", "lockup/multichain"]) {
          play.fleet.target(`${indexer}/production/mode`).freeze();
        }
      },
      says: [],
    },
    {
      what: "a host lags on one chain, and the rest of that chain does not",
      happens: (play) => {
        for (const target of play.fleet.targets("*/subgraph/production/mode")) {
          target.freeze();
        }
      },
      says: [],
    },
    {
      what: "a host contradicts the others with all that it serves on one chain",
      happens: (play) => otherChain(play, "*/subgraph/production/sei"),
      says: ["2 of 8 targets of host graph.example answer for another chain or fork"],
    },
    {
      what: "a host contradicts the others with one of two targets of a chain",
      happens: (play) => otherChain(play, "airdrops/subgraph/production/sei"),
      says: [],
    },
    {
      what: "an endpoint fails while a chain stands still, each target named once",
      happens: (play) => {
        fail(play, "airdrops/multichain/production/all");
        play.fleet.chain("mode").halt();
      },
      says: [
        "4 of 4 targets of airdrops/multichain/production return no usable answer",
        "3 of 4 targets of chain mode lag or have stopped",
      ],
    },
  ])("is said where $what", async ({ happens, says }) => {
    await using play = await startScenario(FLEET);
    await play.run("40s");
    happens(play);

    await play.run("2m");

    expect(play.status().incidents.map(({ detail }) => detail)).toEqual(says);
  });
});

describe("an outage of our own network", () => {
  it.each<{
    readonly what: string;
    readonly fleet: Parameters<typeof fleetOf>[0];
    readonly down: readonly string[];
    /** What `b` answers. */
    readonly answers?: FaultName;
    readonly waits?: string;
    readonly says: boolean;
  }>([
    { what: "both of two hosts are down", fleet: { a: "15s", b: "15s" }, down: ["a", "b"], says: true },
    { what: "the only host is down", fleet: { a: "15s" }, down: ["a"], says: false },
    { what: "one of two hosts answers", fleet: { a: "15s", b: "15s" }, down: ["a"], says: false },
    {
      what: "one of two hosts refuses our requests",
      fleet: { a: "15s", b: "15s" },
      down: ["a"],
      answers: "http_429",
      says: false,
    },
    {
      what: "one of two hosts replies with errors of a proxy",
      fleet: { a: "15s", b: "15s" },
      down: ["a"],
      answers: "http_502",
      says: true,
    },
    {
      what: "one of two hosts replies with a page of a proxy",
      fleet: { a: "15s", b: "15s" },
      down: ["a"],
      answers: "html_with_200",
      says: true,
    },
    {
      what: "one of two hosts never replies",
      fleet: { a: "15s", b: "15s" },
      down: ["a"],
      answers: "hang_before_headers",
      says: true,
    },
    {
      what: "two hosts are down, and a third has told us to wait",
      fleet: { a: "15s", b: "15s", c: "15s" },
      waits: "c",
      down: ["a", "b", "c"],
      says: true,
    },
    {
      what: "one host is down, and the other has told us to wait",
      fleet: { a: "15s", b: "15s" },
      waits: "b",
      down: ["a", "b"],
      says: false,
    },
    {
      what: "two hosts are down, and one that is polled each half hour has not been polled since",
      fleet: { a: "15s", b: "15s", c: "30m" },
      down: ["a", "b", "c"],
      says: true,
    },
    {
      what: "two hosts are down, and two that are polled each half hour have not been polled since",
      fleet: { a: "15s", b: "15s", c: "30m", d: "30m" },
      down: ["a", "b", "c", "d"],
      says: false,
    },
    {
      what: "one host is down, and one that is polled each half hour has not been polled since",
      fleet: { a: "15s", b: "30m" },
      down: ["a", "b"],
      says: false,
    },
    {
      what: "a host and an RPC node are down, and one that is polled each half hour has not been polled since",
      fleet: { a: "15s", rpc: "15s", c: "30m" },
      down: ["a", "rpc", "c"],
      says: true,
    },
    {
      what: "two RPC nodes are down, and the only indexer has not been polled since",
      fleet: { rpc: "15s", rpc2: "15s", c: "30m" },
      down: ["rpc", "rpc2", "c"],
      says: false,
    },
    {
      what: "two hosts are down, and an RPC node answers",
      fleet: { a: "15s", b: "15s", rpc: "15s" },
      down: ["a", "b"],
      says: false,
    },
  ])("is said to be $says where $what", async ({ answers, down, fleet, says, waits }) => {
    await using play = await startScenario(fleetOf(fleet));
    await play.run("1m");
    if (waits !== undefined) {
      const headers = { "retry-after": "3600" };
      play.fleet
        .endpoint(`airdrops/${waits}/production/all`)
        .fail({ kind: "answer", status: 429, headers, body: "" });
      await play.run("30s");
    }
    for (const name of down) {
      play.setHost(`${name}.example`, "down");
    }
    if (answers !== undefined) {
      play.fleet.endpoint("airdrops/b/production/all").fail(answers);
    }

    await play.run("3m");

    expect(incidents(play).some((incident) => incident.startsWith("network"))).toBe(says);
  });

  it("makes every target unknown after two polls, and nothing is said of one until it is polled again", async () => {
    await using play = await startScenario(fleetOf({ a: "15s", b: "15s", rare: "30m" }));
    await play.run("1m");
    for (const name of ["a", "b", "rare"]) {
      play.setHost(`${name}.example`, "down");
    }
    const seen: string[] = [];
    const look = async (seconds: number): Promise<void> => {
      for (let second = 0; second < seconds; second += 1) {
        await play.run("1s");
        const statuses = play.status().targets.map(({ detail, status }) => `${status}: ${detail}`);
        const now = [...new Set(statuses), ...incidents(play)].join("; ");
        if (!seen.at(-1)?.endsWith(now)) {
          seen.push(`${new Date().toISOString().slice(14, 19)} ${now}`);
        }
      }
    };

    await look(150);
    await play.restart({ state: "kept" });
    await look(60);
    for (const name of ["a", "rare"]) {
      play.setHost(`${name}.example`, "up");
    }
    await look(60);

    const refused = "the last poll failed: connect";
    expect(seen).toEqual([
      "01:01 ok: advances, level with the reference seen by 3 sources",
      expect.stringMatching(`^01:15 ok: advances, level with the reference seen by 3 sources; ${refused}`),
      "01:19 unknown: nothing can be reached: every host fails at once, so our own network is the likely cause; network all: 3",
      "04:46 ok: advances, level with the reference seen by 3 sources; unknown: not polled since our network outage",
      expect.stringMatching(
        /^05:00 ok: advances, level with the reference seen by 3 sources; unreachable: no usable answer: connect .*; last height 4 min ago$/,
      ),
    ]);
  });
});

describe("an incident over time", () => {
  it("starts with more than half of an indexer, ends below a third, and keeps its start over a restart", async () => {
    await using play = await startScenario(FLEET);
    await play.run("1m");
    const chains = ["base", "form", "mode", "sei"];
    const seen: string[] = [];
    const look = async (): Promise<void> => {
      await play.run("2m");
      seen.push(incidents(play).join(", "));
    };

    for (const chain of chains) {
      fail(play, `airdrops/subgraph/production/${chain}`);
      await look();
    }
    const since = play.status().incidents[0]?.since;
    await play.restart({ state: "kept" });
    await look();
    const sinceThen = play.status().incidents[0]?.since;
    for (const chain of chains) {
      play.fleet.endpoint(`airdrops/subgraph/production/${chain}`).heal();
      await look();
    }

    const incident = "endpoint airdrops/subgraph/production";
    expect(seen).toEqual([
      "",
      "",
      `${incident}: 3`,
      `${incident}: 4`,
      `${incident}: 4`,
      `${incident}: 3`,
      `${incident}: 2`,
      "",
      "",
    ]);
    expect(since).toMatch(/^2026-11-20T03:05:/);
    expect(sinceThen).toBe(since);
    expect(play.log.filter(({ msg }) => String(msg).startsWith("Incident")).map(({ msg }) => msg)).toEqual([
      "Incident began",
      "Incident ended",
    ]);
  });

  it("of a host goes on while most of its endpoints fail", async () => {
    await using play = await startScenario(FLEET);
    await play.run("1m");
    play.setHost("graph.example", "down");
    await play.run("2m");
    play.setHost("graph.example", "up");
    fail(play, "airdrops/subgraph/production/*");
    fail(play, "lockup/subgraph/production/*");
    const seen = [incidents(play).join(", ")];

    for (const chain of ["base", "form", "mode", "sei"]) {
      play.fleet.endpoint(`airdrops/subgraph/production/${chain}`).heal();
      await play.run("1m");
      seen.push(incidents(play).join(", "));
    }

    expect(seen).toEqual([
      "host graph.example: 8",
      "host graph.example: 7",
      "host graph.example: 6",
      "host graph.example: 5",
      "endpoint lockup/subgraph/production: 4",
    ]);
  });

  it("of a chain goes on while half of its indexers stand still", async () => {
    await using play = await startScenario(FLEET);
    await play.run("1m");
    const targets = play.fleet.targets("*/*/production/mode");
    for (const target of targets) {
      target.freeze();
    }
    await play.run("4m");
    const seen = [incidents(play).join(", ")];

    for (const target of targets) {
      target.heal();
      await play.run("1m");
      seen.push(incidents(play).join(", "));
    }

    expect(seen).toEqual(["chain mode: 4", "chain mode: 3", "chain mode: 2", "", ""]);
  });

  it("starts anew, and names the other cause, where one follows another", async () => {
    await using play = await startScenario(FLEET);
    await play.run("1m");
    fail(play, "airdrops/multichain/production/all");
    await play.run("2m");
    const first = play.status().incidents[0];
    play.fleet.endpoint("airdrops/multichain/production/all").heal();
    fail(play, "lockup/multichain/production/all");
    await play.run("2m");

    const [second, ...more] = play.status().incidents;

    expect([first?.subject, second?.subject, more]).toEqual([
      "airdrops/multichain/production",
      "lockup/multichain/production",
      [],
    ]);
    expect(second?.since).not.toBe(first?.since);
  });
});

/** A fleet in which each source has a host of its own: `a: 15s` is an indexer that is polled each 15 s, `rpc: 15s` a node. */
function fleetOf(sources: Readonly<Record<string, "15s" | "30s" | "30m">>): string {
  const schedules = {
    "15s": "*/15 * * * * *",
    "30s": "*/30 * * * * *",
    "30m": "0 */30 * * * *",
  };
  const nodes = Object.keys(sources).filter((name) => name.startsWith("rpc"));
  const indexers = Object.entries(sources).filter(([name]) => !name.startsWith("rpc"));
  return `
version: 1
poll: { retries: 0, rpc_schedule: "*/15 * * * * *" }
chains: { base: { id: 8453, block_time: 1s, rpc: [${nodes.map((name) => `"https://${name}.example/"`).join(", ")}] } }
protocols:
  airdrops:
${indexers
  .map(
    ([name, polls]) =>
      `    - { variant: ${name}, dialect: graph, url: "https://${name}.example/x", schedule: "${schedules[polls]}", chains: [base] }`,
  )
  .join("\n")}
`;
}

/** `endpoint airdrops/subgraph/production: 4`, with the number of targets. */
function incidents(play: Scenario): readonly string[] {
  return play
    .status()
    .incidents.map(({ scope, subject, targets }) => `${scope} ${subject}: ${targets.length}`);
}

function fail(play: Scenario, endpoints: string): void {
  for (const endpoint of play.fleet.endpoints(endpoints)) {
    endpoint.fail("http_500");
  }
}

function otherChain(play: Scenario, targets: string): void {
  for (const target of play.fleet.targets(targets)) {
    target.set({ wrongChain: play.fleet.chain("base").model });
  }
}
