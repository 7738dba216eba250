import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo, Server, Socket } from "node:net";

/** A server on loopback, for as long as the test lasts. */
export interface Listener extends AsyncDisposable {
  readonly port: number;
  /** Its HTTP URL, without a slash at the end. */
  readonly url: string;
  /** Closes all connections, as a restart does. */
  readonly hangUp: () => void;
}

/** Answers HTTP requests. */
export function serve(listener: RequestListener): Promise<Listener> {
  return listen(createServer(listener));
}

/** Lets a server listen on a free port; its connections end with it. */
export async function listen(server: Server): Promise<Listener> {
  const sockets = new Set<Socket>();
  server.on("connection", (socket: Socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  // A server that listens on a TCP port has an address with a port.
  const { port } = server.address() as AddressInfo;
  const hangUp = (): void => {
    for (const socket of sockets) {
      socket.destroy();
    }
  };
  return {
    port,
    url: `http://127.0.0.1:${port}`,
    hangUp,
    async [Symbol.asyncDispose]() {
      hangUp();
      server.close();
      await once(server, "close");
    },
  };
}
