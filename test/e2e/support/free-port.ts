import { once } from "node:events";
import { createServer } from "node:net";
import { hasCode } from "../../../src/io/system-error.ts";

/**
 * Each worker of vitest has ports of its own, so that no two tests take the same. All are below what systems give to connections
 * (32768 and up on Linux, 49152 elsewhere).
 */
const PORTS_OF_A_WORKER = 1_000;
let latest = 20_000 + PORTS_OF_A_WORKER * Number(process.env["VITEST_POOL_ID"] ?? "0");

/** A TCP port of the loopback address, for a program that cannot say which one the system gave it. */
export async function freePort(): Promise<number> {
  // A port for each call, because several calls may be made at once.
  const port = ++latest;
  const server = createServer();
  server.listen(port, "127.0.0.1");
  try {
    await once(server, "listening");
  } catch (error) {
    if (hasCode(error, "EADDRINUSE")) {
      return freePort();
    }
    throw error;
  }
  server.close();
  await once(server, "close");
  return port;
}
