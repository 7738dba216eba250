/**
 * An indexer that replies to every request with its height, as fast as Node can, until its standard input ends. First it prints
 * its port. Each line of input is the length of a period in milliseconds. For each line it prints when the first and the last
 * request of each period came, since the previous line.
 */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

const BLOCK_MS = 2_000;
/** 2026-11-20, about block twenty million. */
const BLOCK_ZERO_MS = 1_795_132_800_000 - 20_000_000 * BLOCK_MS;

let periodMs: number | null = null;
let rounds = new Map<number, { readonly firstMs: number; readonly lastMs: number }>();

const server = createServer((request, response) => {
  request.resume();
  noteArrival(Date.now());
  const number = Math.floor((Date.now() - BLOCK_ZERO_MS) / BLOCK_MS);
  const timestamp = (BLOCK_ZERO_MS + number * BLOCK_MS) / 1_000;
  const body = `{"data":{"_meta":{"block":{"number":${number},"timestamp":${timestamp},"hash":"0x${String(number).padStart(64, "0")}"},"deployment":"QmZfMYd7SgCLQqrA6hVfvJLbrmVQPVN8bUBJ9WEJbzWzEa","hasIndexingErrors":false}}}`;
  response.writeHead(200, { "content-type": "application/json", "content-length": Buffer.byteLength(body) });
  response.end(body);
});

function noteArrival(nowMs: number): void {
  if (periodMs === null) {
    return;
  }
  const number = Math.floor(nowMs / periodMs);
  const sinceMs = nowMs - number * periodMs;
  rounds.set(number, { firstMs: rounds.get(number)?.firstMs ?? sinceMs, lastMs: sinceMs });
}

// The clients decide how long a connection is kept.
server.keepAliveTimeout = 0;
server.listen(0, "127.0.0.1", 4_096, () => {
  process.stdout.write(`${(server.address() as AddressInfo).port}\n`);
});
process.stdin.on("data", (line) => {
  process.stdout.write(`${JSON.stringify([...rounds.values()])}\n`);
  rounds = new Map();
  periodMs = Number(line.toString());
});
process.stdin.on("end", () => process.exit(0));
