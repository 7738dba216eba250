import type { IncomingMessage, RequestListener, Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { groupBy } from "../../core/model/group-by.ts";

export interface ConnectionLimits {
  /** Open connections. */
  readonly connections: number;
  /** Bytes of replies that clients have not read yet, summed over all connections. */
  readonly unreadBytes: number;
}

interface Connection {
  readonly address: string;
  readonly socket: Socket;
  unreadBytes: number;
}

/**
 * Limits the connections that clients hold, and the bytes of unread replies. At a limit, the address that holds the most loses
 * its least recently used connection. So one client cannot keep others out, and a reverse proxy may use the whole limit.
 */
export class Connections {
  readonly #limits: ConnectionLimits;
  /** The connections by their peer, the least recently used first. */
  readonly #open = new Map<string, Connection>();

  constructor(limits: ConnectionLimits) {
    this.#limits = limits;
  }

  watch(server: Server): void {
    server.on("connection", (socket: Socket) => this.#add(socket));
    server.on("request", ({ socket }: IncomingMessage) => {
      const peer = peerOf(socket);
      const used = this.#open.get(peer);
      if (used !== undefined) {
        this.#open.delete(peer);
        this.#open.set(peer, used);
      }
    });
  }

  /** Counts the memory of a reply until its client has read it. */
  hold({ socket }: IncomingMessage, response: ServerResponse, bytes: number): void {
    const reader = this.#open.get(peerOf(socket));
    if (reader === undefined) {
      return;
    }
    reader.unreadBytes += bytes;
    response.once("close", () => {
      reader.unreadBytes -= bytes;
    });
    const slow = () => [...this.#open.values()].filter(({ unreadBytes }) => unreadBytes > 0);
    // The last connection is kept: a single reply may exceed the limit.
    while (sumOf(slow()) > this.#limits.unreadBytes && slow().length > 1) {
      this.#closeOneOf(slow(), sumOf);
    }
  }

  /** Closes all connections, even during a TLS handshake; Node's own method does not. */
  close(): void {
    for (const { socket } of this.#open.values()) {
      socket.destroy();
    }
  }

  #add(socket: Socket): void {
    if (this.#open.size >= this.#limits.connections) {
      this.#closeOneOf([...this.#open.values()], ({ length }) => length);
    }
    const peer = peerOf(socket);
    const connection = { address: socket.remoteAddress ?? "", socket, unreadBytes: 0 };
    this.#open.set(peer, connection);
    socket.once("close", () => this.#open.get(peer) === connection && this.#open.delete(peer));
  }

  /** Closes the least recently used connection of the address that holds the most. */
  #closeOneOf(some: readonly Connection[], heldBy: (own: readonly Connection[]) => number): void {
    const byAddress = groupBy(some, ({ address }) => address);
    const [[closed] = []] = [...byAddress.values()].sort((a, b) => heldBy(b) - heldBy(a));
    if (closed !== undefined) {
      // The "close" event comes later; the next call must not choose the same connection.
      this.#open.delete(peerOf(closed.socket));
      closed.socket.destroy();
    }
  }
}

/**
 * Handles one request of a connection at a time. A client that sends a second request before the reply is complete (pipelining)
 * is disconnected: Node would handle all requests of one packet at once.
 */
export function oneAtATime(answer: RequestListener): RequestListener {
  const current = new WeakMap<Socket, ServerResponse>();
  return (request, response) => {
    const { socket } = request;
    // `writableFinished` is not used: over TLS it may become true after the client has read the reply.
    if (current.get(socket)?.writableEnded === false) {
      socket.destroy();
      return;
    }
    current.set(socket, response);
    answer(request, response);
  };
}

function sumOf(some: readonly Connection[]): number {
  return some.reduce((sum, { unreadBytes }) => sum + unreadBytes, 0);
}

/** The address and port of a client. They are the same for a TLS socket and the TCP socket below it. */
export function peerOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`;
}
