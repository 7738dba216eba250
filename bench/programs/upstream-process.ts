/**
 * An indexer that answers as fast as Node can, whatever is asked: what is measured is who asks. Prints its ports, and
 * answers until its standard input ends; told `count`, it prints how often it has answered so far, and told
 * `rounds 15000`, when in each period of so many milliseconds it was asked first and last since it was told so before.
 * `tsx upstream-process.ts KEY_FILE CERTIFICATE_FILE`.
 */
import { readFileSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo } from "node:net";

const BLOCK_MS = 2_000;
/** 2026-11-20, about block twenty million. */
const BLOCK_ZERO_MS = 1_795_132_800_000 - 20_000_000 * BLOCK_MS;

const [keyFile = "", certFile = ""] = process.argv.slice(2);
let isHanging = false;
let answered = 0;
let periodMs: number | null = null;
let rounds = new Map<number, { readonly firstMs: number; readonly lastMs: number }>();

function answer(request: IncomingMessage, response: ServerResponse): void {
  request.resume();
  noteArrival(Date.now());
  if (isHanging) {
    return;
  }
  answered += 1;
  const number = Math.floor((Date.now() - BLOCK_ZERO_MS) / BLOCK_MS);
  const timestamp = (BLOCK_ZERO_MS + number * BLOCK_MS) / 1_000;
  const body = `{"data":{"_meta":{"block":{"number":${number},"timestamp":${timestamp},"hash":"0x${String(number).padStart(64, "0")}"},"deployment":"QmZfMYd7SgCLQqrA6hVfvJLbrmVQPVN8bUBJ9WEJbzWzEa","hasIndexingErrors":false}}}`;
  response.writeHead(200, { "content-type": "application/json", "content-length": Buffer.byteLength(body) });
  response.end(body);
}

function noteArrival(nowMs: number): void {
  if (periodMs === null) {
    return;
  }
  const number = Math.floor(nowMs / periodMs);
  const sinceMs = nowMs - number * periodMs;
  rounds.set(number, { firstMs: rounds.get(number)?.firstMs ?? sinceMs, lastMs: sinceMs });
}

const servers = [
  createServer(answer),
  createTlsServer({ key: readFileSync(keyFile), cert: readFileSync(certFile) }, answer),
];
const ports: number[] = [];
for (const server of servers) {
  // The clients decide how long a connection is kept.
  server.keepAliveTimeout = 0;
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", 4_096, resolve);
  });
  ports.push((server.address() as AddressInfo).port);
}
process.stdout.write(`${JSON.stringify({ http: ports[0], https: ports[1] })}\n`);
process.stdin.on("data", (told) => {
  const [word, number] = told.toString().trim().split(" ");
  switch (word) {
    case "count":
      process.stdout.write(`${answered}\n`);
      break;
    case "rounds":
      process.stdout.write(`${JSON.stringify([...rounds.values()])}\n`);
      rounds = new Map();
      periodMs = Number(number);
      break;
    default:
      isHanging = word === "hang";
  }
});
process.stdin.on("end", () => process.exit(0));
