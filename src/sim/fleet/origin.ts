import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { type Answer, type Call, html } from "../servers/answer.ts";
import type { SimulatedEndpoint } from "./simulated-fleet.ts";

/** How long an idle connection is kept: the default of nginx. */
const KEEP_ALIVE_MS = 75_000;

/** One host and port on loopback, with its endpoints. */
export class Origin {
  readonly name: string;
  /** The endpoints by path. */
  readonly routes = new Map<string, SimulatedEndpoint>();
  /** The number of connections opened so far. */
  connectionCount = 0;
  #server: Server | null = null;
  #port = 0;

  constructor(name: string) {
    this.name = name;
  }

  /** `127.0.0.1:port`. */
  get host(): string {
    return `127.0.0.1:${this.#port}`;
  }

  /** Starts to listen; after a `close()`, on the same port as before. Does nothing while open. */
  async open(): Promise<void> {
    if (this.#server !== null) {
      return;
    }
    const server = createServer((request, response) => {
      // An error here is a bug of the simulator. It must fail the test, not only the request.
      this.#serve(request, response).catch((error: unknown) => {
        queueMicrotask(() => {
          throw error;
        });
      });
    });
    server.keepAliveTimeout = KEEP_ALIVE_MS;
    server.on("connection", () => {
      this.connectionCount += 1;
    });
    server.listen(this.#port, "127.0.0.1");
    await once(server, "listening");
    this.#server = server;
    // A server that listens on TCP has an address object. It is text only for pipes, and null only before it listens.
    this.#port = (server.address() as AddressInfo).port;
  }

  /** Refuses new connections and closes the existing ones. */
  async close(): Promise<void> {
    const server = this.#server;
    if (server === null) {
      return;
    }
    this.#server = null;
    const closed = once(server, "close");
    server.close();
    server.closeAllConnections();
    await closed;
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const call = await readCall(request);
    if (call === null) {
      return;
    }
    const endpoint = this.routes.get(call.path);
    if (endpoint === undefined) {
      deliver(response, html("404 Not Found", 404));
      return;
    }
    const pending = endpoint.receive(call);
    // The timers do not keep the process alive: once the origin is closed, no client waits for the reply.
    await sleep(pending.beforeMs, undefined, { ref: false });
    const answer = endpoint.answer(pending);
    await sleep(pending.afterMs, undefined, { ref: false });
    if (answer.damage === undefined) {
      deliver(response, answer);
    } else if (!response.destroyed) {
      answer.damage.send(response, answer);
    }
  }
}

/** Sends a reply whole and at once, if the caller is still connected. */
function deliver(response: ServerResponse, { status, headers, body }: Answer): void {
  if (!response.destroyed) {
    response.writeHead(status, { ...headers, "content-length": String(Buffer.byteLength(body)) }).end(body);
  }
}

/** Reads a request. Null if the client closed the connection before the end of the request. */
async function readCall(request: IncomingMessage): Promise<Call | null> {
  const body = await text(request).catch(() => null);
  const { method = "", url = "" } = request;
  const headers = Object.entries(request.headers).map(([name, value]) => [name, String(value)] as const);
  const path = url.split("?", 1)[0] ?? "";
  return body === null ? null : { method, path, headers: Object.fromEntries(headers), body };
}
