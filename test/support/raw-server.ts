import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { createServer, type Server, type Socket } from "node:net";
import { createServer as createTlsServer, type TlsOptions } from "node:tls";

/** A loopback server that speaks no protocol of its own. */
export interface RawServer extends AsyncDisposable {
  readonly port: number;
  /** `http://127.0.0.1:port/`. */
  readonly url: string;
  readonly connectionCount: () => number;
  /** Each request as it came in, head and body. */
  readonly requests: readonly string[];
}

export interface RawServerOptions {
  /** Called with each whole request; writes whatever it likes. */
  readonly onRequest: (socket: Socket, request: string) => void;
  readonly tls?: TlsOptions;
}

export async function startRawServer({ onRequest, tls }: RawServerOptions): Promise<RawServer> {
  const sockets = new Set<Socket>();
  const requests: string[] = [];
  let connectionCount = 0;

  function serve(socket: Socket): void {
    connectionCount += 1;
    sockets.add(socket);
    let received = "";
    socket.on("close", () => sockets.delete(socket));
    // The client may go away at any time: that is what is tested.
    socket.on("error", () => undefined);
    socket.on("data", (data) => {
      received += data.toString("latin1");
      const length = wholeRequest(received);
      if (length !== null) {
        const request = received.slice(0, length);
        received = received.slice(length);
        requests.push(request);
        onRequest(socket, request);
      }
    });
  }

  const server = tls === undefined ? createServer(serve) : createTlsServer(tls, serve);
  server.on("tlsClientError", () => undefined);
  const port = await listen(server);
  return {
    port,
    url: `http://127.0.0.1:${port}/`,
    connectionCount: () => connectionCount,
    requests,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) {
        socket.destroy();
      }
      server.close();
      await once(server, "close");
    },
  };
}

/** A port on which nobody listens. */
export async function takeRefusingPort(): Promise<number> {
  const server = createServer();
  const port = await listen(server);
  server.close();
  await once(server, "close");
  return port;
}

async function listen(server: Server): Promise<number> {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  // A server that listens on a TCP port has an address with a port.
  return (server.address() as AddressInfo).port;
}

/** The length of the first whole request, or null while more must come. */
function wholeRequest(received: string): number | null {
  const headEnd = received.indexOf("\r\n\r\n");
  if (headEnd < 0) {
    return null;
  }
  const body = Number(/^content-length: (\d+)$/im.exec(received.slice(0, headEnd))?.[1] ?? 0);
  const length = headEnd + 4 + body;
  return received.length >= length ? length : null;
}
