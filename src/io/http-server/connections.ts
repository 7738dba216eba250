import type { IncomingMessage, Server } from "node:http";
import type { Socket } from "node:net";
import { groupBy } from "../../core/model/group-by.ts";

/**
 * Limits the connections of a server, with or without TLS. At the limit, a new connection replaces the one that was used the
 * longest ago, of the address with the most connections. So no client can keep others out, and a reverse proxy may use all.
 *
 * Returns a function that closes all of them, also during a TLS handshake, which Node's own does not.
 */
export function limitConnections(server: Server, max: number): () => void {
  /** By address and port, which the sockets of TLS and of TCP have in common; the least recently used first. */
  const open = new Map<string, Socket>();

  server.on("connection", (socket: Socket) => {
    const replaced = open.size < max ? undefined : findReplaceable([...open.values()]);
    if (replaced !== undefined) {
      // Not by its "close" event, which comes later: the next connection must replace another one.
      open.delete(peerOf(replaced));
      replaced.destroy();
    }
    const peer = peerOf(socket);
    open.set(peer, socket);
    socket.once("close", () => open.get(peer) === socket && open.delete(peer));
  });

  server.on("request", ({ socket }: IncomingMessage) => {
    const peer = peerOf(socket);
    const used = open.get(peer);
    if (used !== undefined) {
      open.delete(peer);
      open.set(peer, used);
    }
  });

  return () => {
    for (const socket of open.values()) {
      socket.destroy();
    }
  };
}

function peerOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`;
}

function findReplaceable(open: readonly Socket[]): Socket | undefined {
  const byAddress = groupBy(open, ({ remoteAddress = "" }) => remoteAddress);
  const [most = []] = [...byAddress.values()].sort((a, b) => b.length - a.length);
  return most[0];
}
