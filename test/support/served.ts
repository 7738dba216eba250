import { connect } from "node:net";
import { gzipSync } from "node:zlib";
import { EventLog } from "../../src/core/events/event-log.ts";
import type { Plan } from "../../src/core/model/plan.ts";
import type { ProbeResult, ServerDeps } from "../../src/io/http-server/routes/server-deps.ts";
import { type HttpServer, type HttpServerOptions, startHttpServer } from "../../src/io/http-server/server.ts";
import { fleetOf, fullReport } from "./metrics-source.ts";

const METRICS_BODY = "synclag_up 1\n";
export const METRICS = {
  contentType: "text/plain; version=0.0.4; charset=utf-8",
  body: METRICS_BODY,
  gzipped: gzipSync(METRICS_BODY),
};
export const PROBLEM_TYPE = "application/problem+json; charset=utf-8";

const NO_PLAN: Plan = {
  indexers: [],
  budgets: [],
  totals: { endpoints: 0, requests_per_day: 0 },
  skipped: [],
};

export const NO_FLEET = fleetOf([], []);

const FINE: ProbeResult = { ok: true, detail: "Fine" };

/** The real server, over a fleet with a value for everything; a test replaces what it wants. */
export function serve(
  source: Partial<ServerDeps> = {},
  options: HttpServerOptions = {},
): Promise<HttpServer> {
  const links = { alertmanager: null, grafana: null, runbooks: null };
  const deps: ServerDeps = {
    report: fullReport,
    past: () => ({ timesMs: [], reference: [], targets: {} }),
    events: new EventLog(),
    endpoints: () => [],
    plan: () => NO_PLAN,
    settings: () => ({ cors: [], fleet: NO_FLEET, public: null, links }),
    metrics: () => Promise.resolve(METRICS),
    healthy: () => FINE,
    ready: () => FINE,
    reload: null,
    version: "9.9.9",
    ...source,
  };
  return startHttpServer({ host: "127.0.0.1", port: 0 }, deps, options);
}

export async function json(url: string, init: RequestInit = {}) {
  const answer = await fetch(url, init);
  const body = (await answer.json()) as Readonly<Record<string, unknown>>;
  return { status: answer.status, contentType: answer.headers.get("content-type"), body };
}

/** Sends a request as it is written, and reads until the connection is closed. */
export function ask(
  url: string,
  [requestLine = "", ...headers]: readonly string[],
  body = "",
): Promise<string> {
  const host = headers.some((header) => header.startsWith("host:")) ? [] : ["host: x"];
  return send(url, `${[requestLine, ...host, "connection: close", ...headers].join("\r\n")}\r\n\r\n${body}`);
}

/** Sends bytes, and reads until the connection is closed. */
export function send(url: string, bytes: string): Promise<string> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    let received = "";
    const socket = connect(Number(port), hostname, () => socket.write(bytes, "latin1"));
    socket.on("data", (data) => {
      received += data.toString("latin1");
    });
    // A server may cut the connection while the client still sends.
    socket.on("error", (error) => (received === "" ? reject(error) : resolve(received)));
    socket.on("close", () => resolve(received));
  });
}
