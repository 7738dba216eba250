import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { promisify } from "node:util";
import { gzip as gzipNow } from "node:zlib";
import fastify from "fastify";
import type { MetricsSource } from "../../src/core/model/metrics-source.ts";
import { sendGzipped } from "../../src/io/http-server/routes/send-gzipped.ts";
import { METRIC_FAMILIES } from "../../src/metrics/families/all.ts";
import { createPrometheus } from "../../src/metrics/registry.ts";
import { createScrapeCache } from "../../src/metrics/scrape-cache.ts";
import { createPromClientWay } from "./prom-client-way.ts";

/** One way to answer scrapes, served on a port of its own. */
export interface Way extends AsyncDisposable {
  readonly url: string;
}

const gzip = promisify(gzipNow);

/** Synclag's: each scrape is one of a new report, as if something had been heard since the last. */
export async function serveOurs(source: MetricsSource): Promise<Way> {
  const scrape = createScrapeCache(
    createPrometheus({
      families: METRIC_FAMILIES,
      build: { version: "bench", revision: "bench", nodeVersion: process.version },
    }).render,
  );
  const server = fastify();
  server.get("/", async (_request, reply) =>
    sendGzipped(reply, await scrape({ ...source, report: { ...source.report } })),
  );
  const url = await server.listen({ host: "127.0.0.1", port: 0 });
  return { url, [Symbol.asyncDispose]: () => server.close() };
}

/** prom-client's, behind a bare server: of series that it holds, or that it is given anew at each scrape. */
export async function servePromClient(source: MetricsSource, series: "held" | "given"): Promise<Way> {
  const way = createPromClientWay(source);
  const server = createServer((request, response) => {
    if (series === "given") {
      way.fill();
    }
    void way.render().then(async (text) => {
      const isGzip = request.headers["accept-encoding"] === "gzip";
      response.end(isGzip ? await gzip(text, { level: 1 }) : text);
    });
  });
  return { url: await listen(server), [Symbol.asyncDispose]: () => close(server) };
}

async function listen(server: Server): Promise<string> {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  // A server that listens on a TCP port has an address with a port.
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function close(server: Server): Promise<void> {
  server.close();
  server.closeAllConnections();
  await once(server, "close");
}
