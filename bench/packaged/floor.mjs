/**
 * The least that a Node process can do for the packaged fleet: the same requests with undici, the answers parsed, and the
 * same pages served by fastify. No schedule but a timer, no state, no metrics of its own. `node floor.mjs FILE`; the file is
 * JSON: `{requests: [{url, headers, body, periodMs}], pages: {"/path": text}}`. Writes its URL to stderr; ends at SIGTERM.
 */
import { readFileSync } from "node:fs";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import { fastify } from "fastify";
import { Agent, request } from "undici";

/** Of the daemon's client. */
const KEEP_ALIVE_MS = 45_000;
const PER_HOST = 6;
/** The same for `fastify` as the daemon's. */
const LEVEL = 1;
/** As the daemon does, whose other pages are sent as they are. */
const COMPRESSED = "/metrics";
/** Every period is a multiple of it. */
const STEP_MS = 15_000;

const { requests, pages } = JSON.parse(readFileSync(process.argv[2], "utf8"));
const dispatcher = new Agent({
  connections: PER_HOST,
  keepAliveTimeout: KEEP_ALIVE_MS,
  keepAliveMaxTimeout: KEEP_ALIVE_MS,
  headersTimeout: 0,
  bodyTimeout: 0,
});
const compress = promisify(gzip);
const server = fastify();
for (const [path, text] of Object.entries(pages)) {
  server.get(path, async (_request, reply) => {
    reply.type("text/plain; charset=utf-8");
    if (path !== COMPRESSED) {
      return text;
    }
    reply.header("content-encoding", "gzip");
    return await compress(text, { level: LEVEL });
  });
}
process.stderr.write(`${JSON.stringify({ url: await server.listen({ host: "127.0.0.1", port: 0 }) })}\n`);
const answers = new Map();
await round(requests);
process.stderr.write(`polled ${answers.size}\n`);
schedule();

function schedule() {
  const dueMs = (Math.floor(Date.now() / STEP_MS) + 1) * STEP_MS;
  setTimeout(() => {
    schedule();
    void round(requests.filter(({ periodMs }) => dueMs % periodMs === 0));
  }, dueMs - Date.now());
}

async function round(due) {
  await Promise.all(due.map((one) => poll(one)));
}

async function poll({ url, headers, body }) {
  const response = await request(url, { method: "POST", dispatcher, headers, body });
  answers.set(url, JSON.parse(await response.body.text()));
}
