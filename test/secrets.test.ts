import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { takeRefusingPort } from "./support/raw-server.ts";
import { type Finished, runSynclag, type SynclagProcess, startSynclag } from "./support/synclag-process.ts";
import { temporaryFolder } from "./support/temporary-folder.ts";

/** Every place where a key may be written. */
const KEYS = {
  HEADER_KEY: "canary-header-5f0c1d9a7b3e4f6a8c2d",
  PATH_KEY: "canary:path+5f0c1d9a7b3e4f6a8c2d",
  QUERY_KEY: "canary%2Fquery-5f0c1d9a7b3e4f6a8c2d",
  USER_PASSWORD: "canary-password-5f0c1d9a7b3e4f6a8c2d",
  FILE_KEY: "canary-file-5f0c1d9a7b3e4f6a8c2d",
  /** After a reload. */
  NEXT_KEY: "canary-next-5f0c1d9a7b3e4f6a8c2d",
} as const;
/** These stand in the file itself. */
const WRITTEN_IN_PATH = "cafe5f0c1d9a7b3e4f6a8c2d00112233";
const WRITTEN_IN_QUERY = "canary-written-5f0c1d9a7b3e4f6a8c2d";

const FORMS: readonly string[] = [...Object.values(KEYS), WRITTEN_IN_PATH, WRITTEN_IN_QUERY].flatMap(
  (key) => [
    key,
    encodeURIComponent(key),
    JSON.stringify(key).slice(1, -1),
    Buffer.from(key).toString("base64").replace(/=+$/, ""),
    Buffer.from(`monitor:${key}`).toString("base64"),
  ],
);

/** What a provider may do with a request: repeat it wherever a text may stand. */
const ECHOES: Readonly<Record<string, (heard: string) => Echo>> = {
  graphql: (heard) => ({ body: JSON.stringify({ errors: [{ message: `cannot serve ${heard}` }] }) }),
  code: (heard) => ({ body: JSON.stringify({ errors: [{ message: "no", extensions: { code: heard } }] }) }),
  escaped: (heard) => ({ body: `{"errors":[{"message":"${inUnicodeEscapes(heard)}"}]}` }),
  late: (heard) => ({ body: JSON.stringify({ errors: [{ message: `${"x".repeat(150)} ${heard}` }] }) }),
  html: (heard) => ({ body: `<html><body>${heard}</body></html>` }),
  malformed: (heard) => ({ body: `{"data": ${heard}` }),
  schema: (heard) => ({ body: JSON.stringify({ data: { _meta: { block: { number: heard } } } }) }),
  deployment: (heard) => ({
    body: JSON.stringify({
      data: { _meta: { block: { number: 7, timestamp: 7 }, deployment: heard, hasIndexingErrors: false } },
    }),
  }),
  unauthorized: (heard) => ({ status: 401, body: JSON.stringify({ error: `auth error: ${heard}` }) }),
  forbidden: (heard) => ({ status: 403, body: heard }),
  limited: (heard) => ({ status: 429, body: JSON.stringify({ message: `Too many requests: ${heard}` }) }),
  broken: (heard) => ({ status: 500, body: `Internal server error: ${heard}` }),
  moved: (heard) => ({
    status: 307,
    location: `http://127.0.0.1:1/${encodeURIComponent(heard)}`,
    body: heard,
  }),
};

interface Echo {
  readonly status?: number;
  readonly location?: string;
  readonly body: string;
}

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let provider: Awaited<ReturnType<typeof startProvider>>;
let daemon: SynclagProcess;
let url: string;

beforeAll(async () => {
  folder = await temporaryFolder();
  provider = await startProvider();
  writeFileSync(join(folder.path, "key.txt"), `${KEYS.FILE_KEY}\n`);
  writeFileSync(
    join(folder.path, "bug.mjs"),
    "process.on('SIGUSR2', () => { throw new Error('a bug with ' + JSON.stringify(process.env), { cause: new Error(process.env.HEADER_KEY) }); });",
  );
  writeFileSync(join(folder.path, "chains.yaml"), chainsYaml(provider.port, await takeRefusingPort()));
  daemon = startSynclag(["run", "--config", "chains.yaml", "--log-level", "debug", "--enable-lifecycle"], {
    cwd: folder.path,
    env: { ...KEYS, NODE_OPTIONS: `--import ${join(folder.path, "bug.mjs")}` },
  });
  [, url = ""] = await daemon.logged(/"url":"(http:[^"]+)"/);
  // Every way to fail has been met once.
  await daemon.logged(/First round done/);
}, 60_000);

afterAll(async () => {
  await daemon[Symbol.asyncDispose]();
  await provider[Symbol.asyncDispose]();
  await folder[Symbol.asyncDispose]();
});

describe("a key", () => {
  it("does reach the provider, in each way, or this test would prove nothing", () => {
    const heard = provider.heard.join("\n");

    for (const [name, key] of Object.entries(KEYS).filter(([name]) => name !== "NEXT_KEY")) {
      const forms = [key, encodeURIComponent(key), Buffer.from(`monitor:${key}`).toString("base64")];
      expect(`${name}: ${forms.some((form) => heard.includes(form))}`).toBe(`${name}: true`);
    }
    expect(heard).toContain(WRITTEN_IN_PATH);
    expect(heard).toContain(WRITTEN_IN_QUERY);
    expect(provider.heardElsewhere).toEqual([]);
  });

  it("is in nothing that is served", async () => {
    const { paths } = (await (await fetch(`${url}/openapi.json`)).json()) as { paths: object };
    const described = Object.keys(paths)
      .filter((path) => !path.endsWith("events") && !path.endsWith("reload"))
      .flatMap((path) =>
        Object.keys(ECHOES).map((echo) => path.replace("{protocol}", echo).replace("{chain}", "base")),
      );
    const pages = ["/", "/plan", "/statuses", "/chains/base", "/metrics", "/openapi.json", "/nowhere"];

    const answers = [...new Set([...described, ...pages])].map(async (path) => {
      const answer = await fetch(url + path);
      return `${path}\n${JSON.stringify([...answer.headers])}\n${await answer.text()}`;
    });
    const served = await Promise.all(answers);

    expect(served.length).toBeGreaterThan(20);
    expect(served.join("\n")).toContain("[secret]");
    expect(served.flatMap(leaks)).toEqual([]);
  });

  it("is in no event", async () => {
    const answer = await fetch(`${url}/api/v1/events`);
    const reader = answer.body?.getReader();
    const first = await reader?.read();
    await reader?.cancel();

    expect(leaks(Buffer.from(first?.value ?? []).toString())).toEqual([]);
  });

  it("is neither in the command line nor in the title of the process", () => {
    const about = ["cmdline", "comm"].map((name) =>
      readFileSync(`/proc/${daemon.child.pid}/${name}`, "utf8"),
    );

    expect(about.flatMap(leaks)).toEqual([]);
  });

  it.each([
    { command: ["config", "check", "chains.yaml"] },
    { command: ["plan"] },
    { command: ["plan", "--format", "json"] },
    { command: ["check"] },
    { command: ["check", "--format", "json"] },
    { command: ["check", "--format", "prometheus"] },
  ])("is not in what $command prints", async ({ command }) => {
    const printed = await runSynclag(command, { cwd: folder.path, env: KEYS });

    expect(printed.out).not.toBe("");
    expect(leaksOf(printed)).toEqual([]);
  });

  it.each([
    {
      mistake: "a line break in a header",
      change: (text: string) => text.replace(`\${HEADER_KEY}`, `\${HEADER_KEY}\\n`),
    },
    { mistake: "no scheme", change: (text: string) => text.replaceAll("http://monitor", "monitor") },
    { mistake: "a URL without its slash", change: (text: string) => text.replaceAll("http://", "http:/ /") },
    { mistake: "an unknown key", change: (text: string) => text.replace("headers:", "haeders:") },
    { mistake: "broken YAML", change: (text: string) => text.replace("headers: {", "headers: }") },
    {
      mistake: "a key as the dialect",
      change: (text: string) => text.replace("dialect: graph", `dialect: ${WRITTEN_IN_PATH}`),
    },
    { mistake: "a key in place of the rpc", change: (text: string) => text.replace("http://monitor:x@", "") },
  ])("is in no complaint about $mistake", async ({ change }) => {
    const text = readFileSync(join(folder.path, "chains.yaml"), "utf8");
    writeFileSync(join(folder.path, "bad.yaml"), change(text));

    const printed = await runSynclag(["config", "check", "bad.yaml"], { cwd: folder.path, env: KEYS });

    expect([printed.exitCode, leaksOf(printed)]).toEqual([2, []]);
  });

  it("is in no answer to a reload, and still in none when it was replaced", async () => {
    const file = join(folder.path, "chains.yaml");
    const good = readFileSync(file, "utf8");
    const reload = async () => await (await fetch(`${url}/-/reload`, { method: "POST" })).text();

    writeFileSync(file, good.replaceAll("http://monitor", "monitor"));
    const refused = await reload();
    writeFileSync(file, good.replaceAll("HEADER_KEY", "NEXT_KEY"));
    const taken = await reload();
    await expect
      .poll(() => provider.heard.some((heard) => heard.includes(KEYS.NEXT_KEY)), { timeout: 10_000 })
      .toBe(true);

    expect(refused).toContain("Cannot");
    expect(taken).toContain("Reloaded");
    expect(leaks(refused + taken)).toEqual([]);
  });

  it("is in no file that was written, nor in the log, nor in what a crash says", async () => {
    await expect.poll(() => filesWritten(), { timeout: 15_000 }).not.toEqual([]);
    daemon.child.kill("SIGUSR2");
    const { err, out, exitCode } = await daemon.finished;
    const written = filesWritten().map((name) => readFileSync(join(folder.path, name), "latin1"));

    expect(exitCode).toBe(1);
    expect(err).toContain("this is a bug: Error: a bug with");
    expect(err).toMatch(/"level":"debug".*"msg":"Poll failed"/);
    expect([...leaks(err), ...leaks(out), ...written.flatMap(leaks)]).toEqual([]);
  });
});

function leaksOf({ out, err }: Finished): readonly string[] {
  return [...leaks(out), ...leaks(err)];
}

/** Each form of a key that the text holds, with what stands around it. */
function leaks(text: string): readonly string[] {
  return FORMS.filter((form) => text.includes(form)).map((form) => {
    const at = text.indexOf(form);
    return text.slice(Math.max(0, at - 100), at + form.length + 20);
  });
}

/** All in the folder but what the test itself put there. */
function filesWritten(): readonly string[] {
  const ours = ["chains.yaml", "bad.yaml", "key.txt", "bug.mjs"];
  return readdirSync(folder.path).filter((name) => !ours.includes(name));
}

/** One protocol for each way to fail; all keys go with every request. */
function chainsYaml(port: number, refusingPort: number): string {
  const indexer = (origin: string, name: string) => `
  ${name}:
    - variant: subgraph
      dialect: graph
      schedule: "*/2 * * * * *"
      url: "${origin}/${name}/\${PATH_KEY}/${WRITTEN_IN_PATH}?written=${WRITTEN_IN_QUERY}&key=\${QUERY_KEY}"
      headers: { X-Key: "\${HEADER_KEY}", X-File: "\${file:${folder.path}/key.txt}" }
      chains: [base]`;
  const home = `monitor:\${USER_PASSWORD}@127.0.0.1`;
  const named = Object.keys(ECHOES).map((name) => indexer(`http://${home}:${port}`, name));
  return `
version: 1
listen: 127.0.0.1:0
poll: { timeout: 1s, retries: 0, rpc_schedule: "*/2 * * * * *" }
chains:
  base: { id: 8453, rpc: ["http://monitor:x@127.0.0.1:${port}/graphql/${WRITTEN_IN_PATH}?key=${WRITTEN_IN_QUERY}"] }
protocols:${named.join("")}${indexer(`http://${home}:${refusingPort}`, "refused")}${indexer(`https://${home}:${port}`, "tls")}
`;
}

/** Repeats what it hears, and writes it down; a second server is where its redirects lead. */
async function startProvider() {
  const heard: string[] = [];
  const heardElsewhere: string[] = [];
  const elsewhere = createServer((request, response) => {
    heardElsewhere.push(`${request.url} ${JSON.stringify(request.headers)}`);
    response.end();
  });
  const server = createServer((request, response) => {
    const name = (request.url ?? "").split("/")[1] ?? "";
    const all = `${decodeURIComponent(request.url ?? "")} ${request.url} ${request.rawHeaders.join(" ")}`;
    heard.push(all);
    const echo: Echo = ECHOES[name]?.(all) ?? { body: all };
    const { status = 200, location, body } = echo;
    const to = location?.replace("127.0.0.1:1", `127.0.0.1:${portOf(elsewhere)}`);
    response.writeHead(status, {
      "content-type": "application/json",
      ...(to === undefined ? {} : { location: to }),
    });
    response.end(body);
  });
  for (const one of [server, elsewhere]) {
    await new Promise<void>((resolve) => one.listen(0, "127.0.0.1", resolve));
  }
  return {
    port: portOf(server),
    heard,
    heardElsewhere,
    async [Symbol.asyncDispose]() {
      for (const one of [server, elsewhere]) {
        one.closeAllConnections();
        await new Promise((resolve) => one.close(resolve));
      }
    },
  };
}

function portOf(server: ReturnType<typeof createServer>): number {
  // A server that listens on a TCP port has an address with a port.
  return (server.address() as AddressInfo).port;
}

function inUnicodeEscapes(text: string): string {
  return [...text].map((char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`).join("");
}
