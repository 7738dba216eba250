import { randomInt } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:net";
import { hasCode } from "../../../src/io/system-error.ts";

/** Below what systems give to connections (32768 and up on Linux, 49152 elsewhere): one of those could take it first. */
const PORTS = { from: 20_000, to: 32_768 };

/** A TCP port of the loopback address that nothing listens on at this moment. */
export async function freePort(): Promise<number> {
  const port = randomInt(PORTS.from, PORTS.to);
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
