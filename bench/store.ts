// What a draw from the store costs, and what polls without a budget notice of it.
// npx tsx bench/store.ts: starts redis-server on loopback and prints a table for docs/PERFORMANCE.md.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createConnection } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { pino } from "pino";
import { Budgets } from "../src/budgets/budgets.ts";
import type { Endpoint } from "../src/core/model/fleet.ts";
import { RedisStore } from "../src/io/store/redis-store.ts";
import { SharedBudgets } from "../src/io/store/shared-budgets.ts";
import { endpointOf, fleetOf } from "../test/budgets/fleet-builder.ts";

const PORT = 27_511;
const DRAWS = 20_000;

const counted = endpointOf({ chain: "base", budget: "shared", schedule: "0 * * * * *" });
const free = endpointOf({ chain: "mode", budget: null });
const fleet = fleetOf([counted, free], [{ name: "shared", limit: 10_000_000, per: "hour", scope: "shared" }]);

const server = spawn(
  "redis-server",
  ["--port", String(PORT), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"],
  { stdio: "ignore" },
);
try {
  await connected();
  const settings = {
    address: {
      host: "127.0.0.1",
      port: PORT,
      isEncrypted: false,
      username: null,
      password: null,
      database: 0,
    },
    cluster: "bench",
  };
  await using store = await RedisStore.open(settings, {
    logger: pino({ level: "silent" }),
    random: Math.random,
  });
  const [leader, ...others] = ["leader", "standby", "check", "staging"].map(
    (name) =>
      new SharedBudgets({
        store,
        budgets: new Budgets(fleet),
        name,
        id: name,
        isDaemon: name === "leader",
        right: () => ({ kind: "free" }),
        nowMs: Date.now,
        monotonicMs: () => performance.now(),
        random: Math.random,
      }),
  );
  if (leader === undefined) {
    throw new RangeError("Cannot bench: no process");
  }
  await leader.open((ms) => delay(ms));
  // Every process has drawn: so many fields has the hash of an account that several share.
  for (const other of others) {
    await other.acquire(counted, "scheduled");
  }
  print("draw, one after the other", await timed(leader, { endpoint: counted, atOnce: 1 }));
  print("draw, 16 at once", await timed(leader, { endpoint: counted, atOnce: 16 }));
  print("an endpoint without a budget", await timed(leader, { endpoint: free, atOnce: 1 }));
} finally {
  server.kill("SIGKILL");
}

/** Milliseconds that each took. */
async function timed(
  budgets: SharedBudgets,
  { endpoint, atOnce }: { readonly endpoint: Endpoint; readonly atOnce: number },
): Promise<readonly number[]> {
  const times: number[] = [];
  await Promise.all(
    Array.from({ length: atOnce }, async () => {
      for (let left = DRAWS / atOnce; left > 0; left -= 1) {
        const startedMs = performance.now();
        const grant = await budgets.acquire(endpoint, "scheduled");
        times.push(performance.now() - startedMs);
        if (grant.kind === "refused") {
          throw new Error(`Cannot bench: ${grant.detail}`);
        }
      }
    }),
  );
  return times.toSorted((a, b) => a - b);
}

function print(what: string, sorted: readonly number[]): void {
  const at = (share: number): string => `${(sorted[Math.floor(share * sorted.length)] ?? 0).toFixed(3)} ms`;
  process.stdout.write(`| ${what} | ${at(0.5)} | ${at(0.99)} | ${at(0.999)} |\n`);
}

async function connected(): Promise<void> {
  for (;;) {
    const socket = createConnection(PORT, "127.0.0.1");
    try {
      await once(socket, "connect");
      return;
    } catch {
      await delay(50);
    } finally {
      socket.destroy();
    }
  }
}
