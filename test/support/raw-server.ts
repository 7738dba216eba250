import { createServer, type Socket } from "node:net";
import { createServer as createTlsServer, type TlsOptions } from "node:tls";
import { type Listener, listen } from "./listener.ts";

/** A loopback server that sends exactly what a test writes. Its URL has a slash at the end. */
export interface RawServer extends Listener {
  readonly connectionCount: () => number;
  /** Each request as it was received, head and body. */
  readonly requests: readonly string[];
}

export interface RawServerOptions {
  /** Called with each whole request; writes the reply. */
  readonly onRequest: (socket: Socket, request: string) => void;
  readonly tls?: TlsOptions;
}

export async function startRawServer({ onRequest, tls }: RawServerOptions): Promise<RawServer> {
  const requests: string[] = [];
  let connectionCount = 0;

  function serve(socket: Socket): void {
    connectionCount += 1;
    let received = "";
    // The client may disconnect at any time: that is what is tested.
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
  const listener = await listen(server);
  return { ...listener, url: `${listener.url}/`, connectionCount: () => connectionCount, requests };
}

/** A port on which no process listens. */
export async function takeRefusingPort(): Promise<number> {
  await using listener = await listen(createServer());
  return listener.port;
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
