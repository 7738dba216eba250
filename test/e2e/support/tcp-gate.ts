import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";

/** A way to a server on loopback that can be cut or slow, as a network can. */
export interface TcpGate extends AsyncDisposable {
  readonly port: number;
  /** Ends all connections, and refuses new ones. */
  readonly cut: () => void;
  readonly join: () => void;
  /** Every reply from now on takes so long. */
  readonly delay: (ms: number) => void;
}

/** Opens a way to this port. */
export async function startTcpGate(to: number): Promise<TcpGate> {
  const sockets = new Set<Socket>();
  let isCut = false;
  let delayMs = 0;
  const keep = (socket: Socket): Socket => {
    sockets.add(socket);
    return socket.on("error", () => undefined).on("close", () => sockets.delete(socket));
  };
  const server = createServer((near) => {
    keep(near);
    if (isCut) {
      near.destroy();
      return;
    }
    const far = keep(connect(to, "127.0.0.1"));
    near.pipe(far);
    far.on("data", (bytes) => setTimeout(() => near.writable && near.write(bytes), delayMs));
    near.on("close", () => far.destroy());
    far.on("close", () => near.destroy());
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  const cut = (): void => {
    isCut = true;
    for (const socket of sockets) {
      socket.destroy();
    }
  };
  return {
    port: typeof address === "object" && address !== null ? address.port : 0,
    cut,
    join: () => {
      isCut = false;
    },
    delay: (ms) => {
      delayMs = ms;
    },
    async [Symbol.asyncDispose]() {
      cut();
      server.close();
      await once(server, "close");
    },
  };
}
