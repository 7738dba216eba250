import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";

/** A way to a server on loopback whose replies are late. */
export interface SlowGate extends AsyncDisposable {
  readonly port: number;
  /** Every reply from now on takes so long. */
  readonly delay: (ms: number) => void;
}

/** Opens a way to this port, without delay at first. */
export async function startSlowGate(to: number): Promise<SlowGate> {
  const sockets = new Set<Socket>();
  let delayMs = 0;
  const keep = (socket: Socket): Socket => {
    sockets.add(socket);
    return socket.on("error", () => undefined).on("close", () => sockets.delete(socket));
  };
  const server = createServer((near) => {
    const far = keep(connect(to, "127.0.0.1"));
    keep(near).pipe(far);
    far.on("data", (bytes) => setTimeout(() => near.writable && near.write(bytes), delayMs));
    near.on("close", () => far.destroy());
    far.on("close", () => near.destroy());
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  return {
    port: typeof address === "object" && address !== null ? address.port : 0,
    delay: (ms) => {
      delayMs = ms;
    },
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) {
        socket.destroy();
      }
      server.close();
      await once(server, "close");
    },
  };
}
