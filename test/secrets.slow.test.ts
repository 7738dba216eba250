import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { runCommand } from "./commands/run-command.ts";
import { serve } from "./support/listener.ts";
import { takeRefusingPort } from "./support/raw-server.ts";
import { type SynclagProcess, startSynclag } from "./support/synclag-process.ts";
import { temporaryFolder } from "./support/temporary-folder.ts";

/** Every place where a key may be written. */
const KEYS = {
  HEADER_KEY: "canary-header-5f0c1d9a7b3e4f6a8c2d",
  PATH_KEY: "canary:path+5f0c1d9a7b3e4f6a8c2d",
  QUERY_KEY: "canary%2Fquery-5f0c1d9a7b3e4f6a8c2d",
  USER_PASSWORD: "canary-password-5f0c1d9a7b3e4f6a8c2d",
  FILE_KEY: "canary-file-5f0c1d9a7b3e4f6a8c2d",
  SESSION_KEY: "canarysession5f0c1d9a7b3e4f6a8c2d",
  STATUS_KEY: "canary-status-5f0c1d9a7b3e4f6a8c2d",
  RPC_KEY: "canary-rpc-5f0c1d9a7b3e4f6a8c2d",
  UUID_KEY: "5961fb30-8fdc-45ad-9a35-555dd5e0dd56",
  BASE58_KEY: "4SxPXkQNifgBYqje2C4yP5gz69erZwtD7GuLWgXHSLGe",
  LETTERS_KEY: "EXFsvixygRDNOIyMkChXEi",
  BASE64URL_KEY: "lhv1Jr-OiaLnt-gD95xJ_g",
  /** The key that is used after a reload. */
  NEXT_KEY: "canary-next-5f0c1d9a7b3e4f6a8c2d",
} as const;
/** A key that is written in the file itself, where it may be. */
const WRITTEN_IN_QUERY = "canary-written-5f0c1d9a7b3e4f6a8c2d";

const FORMS: readonly string[] = [...Object.values(KEYS), WRITTEN_IN_QUERY].flatMap((key) => [
  // Half of a key is enough: a quote may be cut within it.
  key.slice(0, 18),
  encodeURIComponent(key),
  JSON.stringify(key).slice(1, -1),
  Buffer.from(key).toString("base64").replace(/=+$/, ""),
  Buffer.from(`monitor:${key}`).toString("base64"),
]);

/** The ways in which a provider can repeat a request in its response. */
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
  // Every kind of failure has occurred by then.
  await daemon.logged(/First round done/);
}, 60_000);

afterAll(async () => {
  await daemon[Symbol.asyncDispose]();
  await provider[Symbol.asyncDispose]();
  await folder[Symbol.asyncDispose]();
});

describe("a key", () => {
  it("reaches the provider in each way, or this test would prove nothing", async () => {
    const unheard = () => {
      const heard = provider.heard.join("\n");
      const isHeard = (key: string) =>
        [key, encodeURIComponent(key), Buffer.from(`monitor:${key}`).toString("base64")].some((form) =>
          heard.includes(form),
        );
      return [...Object.values(KEYS), WRITTEN_IN_QUERY].filter((key) => !isHeard(key));
    };

    // An index-node API is asked after the first round.
    await expect.poll(unheard, { timeout: 30_000 }).toEqual([KEYS.NEXT_KEY]);
    expect(provider.heardElsewhere).toEqual([]);
  });

  it("is in no reply that is served", async () => {
    const { paths } = (await (await fetch(`${url}/openapi.json`)).json()) as { paths: object };
    const described = Object.keys(paths)
      .filter((path) => !path.endsWith("reload"))
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

  it("is neither in the command line nor in the title of the process", () => {
    const about = ["cmdline", "comm"].map((name) =>
      readFileSync(`/proc/${daemon.child.pid}/${name}`, "utf8"),
    );

    expect(about.flatMap(leaks)).toEqual([]);
  });

  it("is in the output of no command", async () => {
    const file = join(folder.path, "chains.yaml");
    const commands = [
      ["config", "check", file],
      ["plan", "--config", file],
      ["plan", "--config", file, "--format", "json"],
      ["check", "--config", file],
      ["check", "--config", file, "--format", "json"],
      ["check", "--config", file, "--format", "prometheus"],
    ];

    for (const command of commands) {
      const printed = await runCommand(command, KEYS);
      expect(printed.out).not.toBe("");
      expect(leaks(printed.out + printed.err)).toEqual([]);
    }
  });

  it("is in no reply to a reload, neither before nor after the key was replaced", async () => {
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

    expect(refused).toContain("expected");
    expect(taken).toContain("Reloaded");
    expect(leaks(refused + taken)).toEqual([]);
  });

  it("is in no file that was written, in no log and in no crash report", async () => {
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

/** Each form of a key that the text contains, with its context. */
function leaks(text: string): readonly string[] {
  return FORMS.filter((form) => text.includes(form)).map((form) => {
    const at = text.indexOf(form);
    return text.slice(Math.max(0, at - 100), at + form.length + 20);
  });
}

/** The files in the folder that the test did not write. */
function filesWritten(): readonly string[] {
  const ours = ["chains.yaml", "key.txt", "bug.mjs"];
  return readdirSync(folder.path).filter((name) => !ours.includes(name));
}

/** One protocol for each way to fail. Every request has all keys. */
function chainsYaml(port: number, refusingPort: number): string {
  const indexer = (origin: string, name: string) => `
  ${name}:
    - variant: subgraph
      dialect: graph
      schedule: "*/2 * * * * *"
      url: "${origin}/${name}/\${PATH_KEY}/\${UUID_KEY}/\${BASE58_KEY}/\${LETTERS_KEY}/\${BASE64URL_KEY}?written=${WRITTEN_IN_QUERY}&key=\${QUERY_KEY}"
      status: { url: "${origin}/${name}/\${STATUS_KEY}", deployment: Qm1 }
      headers: { X-Key: "\${HEADER_KEY}", Cookie: "theme=dark; session=\${SESSION_KEY}", X-File: "\${file:${folder.path}/key.txt}" }
      chains: [base]`;
  const home = `monitor:\${USER_PASSWORD}@127.0.0.1`;
  const named = Object.keys(ECHOES).map((name) => indexer(`http://${home}:${port}`, name));
  return `
version: 1
listen: 127.0.0.1:0
poll: { timeout: 1s, retries: 0, rpc_schedule: "*/2 * * * * *" }
chains:
  base: { id: 8453, rpc: ["http://monitor:x@127.0.0.1:${port}/graphql/\${RPC_KEY}?key=${WRITTEN_IN_QUERY}"] }
protocols:${named.join("")}${indexer(`http://${home}:${refusingPort}`, "refused")}${indexer(`https://${home}:${port}`, "tls")}
`;
}

/** Records requests and repeats them in its responses. Its redirects lead to a second server. */
async function startProvider() {
  const heard: string[] = [];
  const heardElsewhere: string[] = [];
  const elsewhere = await serve((request, response) => {
    heardElsewhere.push(`${request.url} ${JSON.stringify(request.headers)}`);
    response.end();
  });
  const server = await serve((request, response) => {
    const name = (request.url ?? "").split("/")[1] ?? "";
    const all = `${decodeURIComponent(request.url ?? "")} ${request.url} ${request.rawHeaders.join(" ")}`;
    heard.push(all);
    const { status = 200, location = "", body }: Echo = ECHOES[name]?.(all) ?? { body: all };
    const to = location.replace("127.0.0.1:1", `127.0.0.1:${elsewhere.port}`);
    response
      .writeHead(status, { "content-type": "application/json", ...(to === "" ? {} : { location: to }) })
      .end(body);
  });
  const close = async () => {
    await server[Symbol.asyncDispose]();
    await elsewhere[Symbol.asyncDispose]();
  };
  return { port: server.port, heard, heardElsewhere, [Symbol.asyncDispose]: close };
}

function inUnicodeEscapes(text: string): string {
  return [...text].map((char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`).join("");
}
