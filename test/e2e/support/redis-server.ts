import type { StoreSettings } from "../../../src/config/config.ts";
import { freePort } from "./free-port.ts";
import { type Program, printed, startProgram } from "./program.ts";

/** A real Redis on loopback that keeps nothing on disk: each start is an empty store. */
export interface RedisServer {
  readonly port: number;
  /** For `--store`. */
  readonly url: string;
  readonly pid: () => number;
  /** Waits until it replies. */
  readonly start: () => Promise<void>;
  /** As `kill -9` does. */
  readonly kill: () => Promise<void>;
}

/** Starts `redis-server` on a free port, with further options such as `["--maxmemory", "2mb"]`. */
export async function startRedis(options: readonly string[] = []): Promise<RedisServer> {
  const port = await freePort();
  let program: Program | null = null;
  const server: RedisServer = {
    port,
    url: `redis://127.0.0.1:${port}`,
    pid: () => program?.pid ?? 0,
    async start() {
      program = await startProgram({
        command: "redis-server",
        args: ["--port", String(port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no", ...options],
      });
      await printed(program, /(Ready to accept connections)/);
    },
    async kill() {
      program?.signal("SIGKILL");
      await program?.exit;
      program = null;
    },
  };
  await server.start();
  return server;
}

/** A Redis on loopback without TLS or users. */
export function storeAddress(port: number): StoreSettings["address"] {
  return { host: "127.0.0.1", port, isEncrypted: false, username: null, password: null, database: 0 };
}
