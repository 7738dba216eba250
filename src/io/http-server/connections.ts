import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { groupBy } from "../../core/model/group-by.ts";

interface Connection {
  readonly socket: Socket;
  /** Of the client, or of the reverse proxy in front of it. */
  readonly address: string;
  /** Address and port, which the sockets of TLS and of TCP have in common. */
  readonly peer: string;
  /** Requests without a complete reply. */
  requests: number;
}

/**
 * Limits the connections of a server, with or without TLS. At the limit, a new connection replaces one from the address with
 * the most connections: the one idle longest or, if all have a request under way, the one with the oldest request. So no
 * client can keep others out, and a reverse proxy may use all connections.
 *
 * Returns a function that closes all of them, also during a TLS handshake, which Node's own does not.
 */
export function limitConnections(server: Server, max: number): () => void {
  /** By peer, the least recently used first. */
  const open = new Map<string, Connection>();

  function remove(connection: Connection): boolean {
    return open.get(connection.peer) === connection && open.delete(connection.peer);
  }

  function moveToEnd(connection: Connection): void {
    if (remove(connection)) {
      open.set(connection.peer, connection);
    }
  }

  server.on("connection", (socket: Socket) => {
    const replaced = open.size < max ? undefined : findReplaceable([...open.values()]);
    if (replaced !== undefined) {
      // Not by its "close" event, which comes later: the next connection must replace another one.
      remove(replaced);
      replaced.socket.destroy();
    }
    const peer = peerOf(socket);
    const connection = { socket, address: socket.remoteAddress ?? "", peer, requests: 0 };
    open.set(peer, connection);
    socket.once("close", () => remove(connection));
  });

  server.on("request", ({ socket }: IncomingMessage, response: ServerResponse) => {
    const connection = open.get(peerOf(socket));
    if (connection !== undefined) {
      connection.requests += 1;
      moveToEnd(connection);
      response.once("close", () => {
        connection.requests -= 1;
        moveToEnd(connection);
      });
    }
  });

  return () => {
    for (const { socket } of open.values()) {
      socket.destroy();
    }
  };
}

function peerOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`;
}

function findReplaceable(open: readonly Connection[]): Connection | undefined {
  const byAddress = groupBy(open, ({ address }) => address);
  const [most = []] = [...byAddress.values()].sort((a, b) => b.length - a.length);
  return most.find(({ requests }) => requests === 0) ?? most[0];
}
