import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { Worker } from "node:worker_threads";

/** Listens on loopback, but no connection to it is ever made: whoever tries is not answered. */
export interface DeafServer extends AsyncDisposable {
  readonly port: number;
}

/** Listens, and falls asleep before the first connection can be accepted. */
const SLEEPER = `
const { parentPort } = require("node:worker_threads");
const server = require("node:net").createServer();
server.listen({ port: 0, host: "127.0.0.1", backlog: 1 }, () => {
  parentPort.postMessage(server.address().port);
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
});
`;

/** On loopback a connection is made at once or not at all. */
const MADE_WITHIN_MS = 500;
/** Linux queues one more than asked for. */
const FAR_MORE_THAN_QUEUED = 10;

/**
 * Fills the queue of connections that wait to be accepted: Linux drops every SYN after that.
 *
 * @throws If connections are made all the same.
 */
export async function startDeafServer(): Promise<DeafServer> {
  const worker = new Worker(SLEEPER, { eval: true });
  // The first message is the port.
  const [port] = (await once(worker, "message")) as [number];
  const waiting: Socket[] = [];
  const server: DeafServer = {
    port,
    async [Symbol.asyncDispose]() {
      for (const socket of waiting) {
        socket.destroy();
      }
      await worker.terminate();
    },
  };
  for (let count = 0; count < FAR_MORE_THAN_QUEUED; count += 1) {
    const socket = connect(port, "127.0.0.1");
    // It may be reset at the end.
    socket.on("error", () => undefined);
    waiting.push(socket);
    if (!(await isMade(socket))) {
      return server;
    }
  }
  await server[Symbol.asyncDispose]();
  throw new Error(`Cannot fill the queue of port ${port}: ${waiting.length} connections were made`);
}

async function isMade(socket: Socket): Promise<boolean> {
  await Promise.race([once(socket, "connect"), sleep(MADE_WITHIN_MS)]);
  // Where this process was held up, the timer comes first, whatever the socket has to say.
  await new Promise(setImmediate);
  return !socket.connecting;
}
