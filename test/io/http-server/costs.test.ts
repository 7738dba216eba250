import { once } from "node:events";
import { get } from "node:http";
import { connect } from "node:net";
import { describe, expect, it } from "vitest";
import { eventOf } from "../../../src/core/events/event.ts";
import { EventLog } from "../../../src/core/events/event-log.ts";
import type { Report } from "../../../src/core/model/report.ts";
import { isoTime } from "../../../src/core/model/text.ts";
import type { ServerDeps } from "../../../src/io/http-server/routes/server-deps.ts";
import { cpuMsOf } from "../../support/cpu-of.ts";
import { fullReport } from "../../support/metrics-source.ts";
import { ask, NO_FLEET, serve } from "../../support/served.ts";
import {
  sampleChain,
  sampleChainReport,
  sampleReport,
  sampleTarget,
  sampleTargetReport,
} from "../../views/sample-report.ts";

describe("what requests of a hostile client cost", () => {
  it("is nothing for parameters that the route does not read", async () => {
    const { made, source } = countedPages();
    await using server = await serve(source);

    await fetch(`${server.url}/chains/base`);
    for (const path of ["base?x=1", "base?x=2&sort=x", "base?range=1h", "b%61se/"]) {
      expect((await fetch(`${server.url}/chains/${path}`)).status).toBe(200);
    }

    expect(made).toEqual(["made"]);
  });

  it("is the same for 60 queries of the public page as for one, also while reports change each second", async () => {
    const { events, report: first } = eventfulFleet();
    let report = first;
    const links = { alertmanager: null, grafana: null, runbooks: null };
    const publicView = { title: "x", protocols: null, notice: null };
    const settings = () => ({ cors: [], fleet: NO_FLEET, public: publicView, links });
    await using server = await serve({ report: () => report, events, settings });
    const cpuOf = (next: (number: number) => { report: Report; query: string }) =>
      cpuMsOf(async () => {
        for (let number = 0; number < 60; number += 1) {
          const asked = next(number);
          report = asked.report;
          await (await fetch(`${server.url}/public?x=${asked.query}`)).arrayBuffer();
        }
      });

    const usual = () => ({ report: first, query: "10" });
    // The first requests also compile the code.
    await cpuOf(usual);
    const friendly = await cpuOf(usual);
    const hostile = await cpuOf((number) => ({ report: first, query: `${10 + number}` }));
    const later = await cpuOf((number) => {
      const time = Date.parse(first.generated_at) + number * 1_000;
      return { report: { ...first, generated_at: isoTime(time) }, query: "10" };
    });

    expect(hostile / friendly).toBeLessThan(4);
    expect(later / friendly).toBeLessThan(4);
  });

  it("is a delay of one page for another client and for the polls", async () => {
    const { made: order, source } = countedPages();
    await using server = await serve(source);
    const urlOf = (query: string) => `${server.url}/chains/base?q=${query}`;
    const flood = Array.from({ length: 60 }, (_, number) => statusFrom("127.0.0.2", urlOf(`${number}`)));
    await Promise.race(flood);

    setImmediate(() => order.push("poll"));
    const other = statusFrom("127.0.0.3", urlOf("other")).then(() => order.push("other"));
    await Promise.all([...flood, other]);

    expect(order).toHaveLength(63);
    expect(order.indexOf("poll")).toBeLessThan(20);
    // With a single queue it would come last; how early it comes depends on how busy the machine is.
    expect(order.indexOf("other")).toBeLessThan(60);
  });

  it("is nothing once the client has disconnected", async () => {
    const { made, source } = countedPages();
    let onTurn: () => void = () => undefined;
    const turn = new Promise<void>((resolve) => {
      onTurn = resolve;
    });
    const past = () => {
      onTurn();
      return { timesMs: Array.from({ length: 500_000 }, (_, index) => index), reference: [], targets: {} };
    };
    await using server = await serve({ ...source, past });
    const { hostname, port } = new URL(server.url);
    // Takes long to compress; meanwhile the others wait.
    const first = fetch(`${server.url}/api/v1/history/lockup/base`);
    await turn;

    const sockets = Array.from({ length: 100 }, (_, number) => {
      const socket = connect(Number(port), hostname).on("error", () => undefined);
      socket.end(`GET /chains/base?q=${number} HTTP/1.1\r\nhost: x\r\n\r\n`, () => socket.resetAndDestroy());
      return once(socket, "close");
    });
    await Promise.all(sockets);
    await ask(server.url, ["GET /chains/base?q=last HTTP/1.1"]);

    expect((await first).status).toBe(200);
    expect(made.length).toBeLessThan(50);
  });
});

/** 40 chains, and 500 events of the only pair on each. */
function eventfulFleet() {
  const slugs = Array.from({ length: 40 }, (_, index) => `chain-${index}`);
  const chains = slugs.map((slug) => {
    const target = sampleTarget({ chain: slug });
    return sampleChainReport({ chain: sampleChain({ slug }), targets: [sampleTargetReport({ target })] });
  });
  const report = sampleReport({ chains });
  const events = new EventLog();
  for (const [hours, slug] of slugs.flatMap((one) =>
    Array.from({ length: 500 }, (_, age) => [500 - age, one] as const),
  )) {
    const time = isoTime(Date.parse(report.generated_at) - hours * 3_600_000);
    const to = hours % 2 === 0 ? "ok" : "down";
    events.add(eventOf({ time, kind: "pair", subject: `lockup/${slug}`, to }));
  }
  return { events, report };
}

/** A server whose page of a chain notes each time that it is made. */
function countedPages() {
  const report = fullReport();
  const made: string[] = [];
  const source: Partial<ServerDeps> = {
    report: () => report,
    endpoints: () => {
      made.push("made");
      return [];
    },
  };
  return { made, source };
}

/** Asks from one of the addresses of this machine. */
function statusFrom(localAddress: string, url: string): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    get(url, { localAddress, agent: false }, (response) => {
      response.on("end", () => resolve(response.statusCode)).resume();
    }).on("error", reject);
  });
}
