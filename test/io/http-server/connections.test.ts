import { once } from "node:events";
import { request } from "node:http";
import { request as requestTls } from "node:https";
import { connect, type Socket } from "node:net";
import { afterEach, describe, expect, it, vi } from "vitest";
import { parseWebConfig } from "../../../src/config/web.ts";
import { METRICS, serve } from "../../support/served.ts";
import { webConfigFolder } from "../../support/web-configs.ts";

/** More than the server accepts. */
const FLOOD = 300;
const FLOODER = "127.0.0.2";
const PROBER = "127.0.0.3";
/** So that no connection of a test is closed because the machine is slow. */
const PATIENT = { requestTimeoutMs: 600_000 };
const REQUEST = "GET /-/healthy HTTP/1.1\r\nhost: x\r\n\r\n";

vi.setConfig({ testTimeout: 60_000 });

let open = new Set<Socket>();

afterEach(() => {
  const ofTest = open;
  open = new Set();
  for (const socket of ofTest) {
    socket.destroy();
  }
});

describe("startHttpServer() with clients that hold all connections", () => {
  it.each([
    { how: "silent", bytes: "" },
    { how: "with half a request", bytes: "GET /metrics HTTP/1.1\r\nx: " },
    { how: "kept alive", bytes: REQUEST },
    { how: "waiting for a reply", bytes: "GET /metrics HTTP/1.1\r\nhost: x\r\n\r\n" },
  ])("serves other clients, even if the connections are $how", async ({ bytes }) => {
    await using server = await serve({ metrics: () => new Promise(() => undefined) }, PATIENT);
    await flood(server.url, bytes);

    const statuses = [await probe(server.url, PROBER), await probe(server.url, "127.0.0.4")];

    expect(statuses).toEqual([200, 200]);
  });

  it("serves other clients while one reopens every closed connection", async () => {
    await using server = await serve({}, PATIENT);
    await reopenAlways(server.url);

    for (let count = 0; count < 5; count += 1) {
      expect(await probe(server.url, PROBER)).toBe(200);
    }
  });

  it("serves other clients over TLS while one never finishes a handshake", async () => {
    using folder = webConfigFolder();
    const text = "tls_server_config: { cert_file: cert.pem, key_file: key.pem }";
    const current = parseWebConfig(text, { file: `${folder.path}/web.yml`, readFile: folder.readFile });
    await using server = await serve({}, { ...PATIENT, web: { current } });
    await flood(server.url, "");

    expect(await probe(server.url, PROBER)).toBe(200);
  });

  it("also serves that client, because all clients of a reverse proxy have one address", async () => {
    await using server = await serve({}, PATIENT);
    await flood(server.url, REQUEST);

    expect(await probe(server.url, FLOODER)).toBe(200);
  });

  it("finishes the reply that another client waits for", async () => {
    let answer: (reply: typeof METRICS) => void = () => undefined;
    let onAsked: () => void = () => undefined;
    const asked = new Promise<void>((resolve) => {
      onAsked = resolve;
    });
    const metrics = () =>
      new Promise<typeof METRICS>((resolve) => {
        answer = resolve;
        onAsked();
      });
    await using server = await serve({ metrics }, PATIENT);
    const scrape = get(`${server.url}/metrics`, PROBER);
    await asked;

    await flood(server.url, "");
    await flood(server.url, REQUEST);
    answer(METRICS);

    expect(await scrape).toBe(200);
  });
});

/** Opens connections one after another, each of which sends these bytes and reads nothing. */
async function flood(url: string, bytes: string): Promise<void> {
  for (let index = 0; index < FLOOD; index += 1) {
    const socket = openSocket(url);
    await once(socket, "connect");
    socket.write(bytes);
  }
}

/** Keeps as many connections open, or opening, until the test ends. */
async function reopenAlways(url: string): Promise<void> {
  const ofTest = open;
  const reopen = (): Socket =>
    openSocket(url).once("close", () => {
      if (open === ofTest) {
        reopen();
      }
    });
  await Promise.all(Array.from({ length: FLOOD }, () => once(reopen(), "connect")));
}

function openSocket(url: string): Socket {
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port), localAddress: FLOODER });
  open.add(socket);
  // A connection that the server resets is closed, as others are.
  return socket.on("error", () => undefined).once("close", () => open.delete(socket));
}

function probe(url: string, localAddress: string): Promise<number | string | undefined> {
  return get(`${url}/-/healthy`, localAddress);
}

/** The HTTP status, or the error. */
function get(url: string, localAddress: string): Promise<number | string | undefined> {
  const send = url.startsWith("https:") ? requestTls : request;
  return new Promise((resolve) => {
    send(url, { localAddress, agent: false, rejectUnauthorized: false }, (response) => {
      response.on("end", () => resolve(response.statusCode)).resume();
    })
      .on("error", (error) => resolve(error.message))
      .end();
  });
}
