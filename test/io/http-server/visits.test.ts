import { once } from "node:events";
import { readdirSync } from "node:fs";
import { type IncomingMessage, request } from "node:http";
import { type RequestOptions, request as requestTls } from "node:https";
import { buffer } from "node:stream/consumers";
import { gunzipSync } from "node:zlib";
import bcrypt from "bcryptjs";
import { pino } from "pino";
import { afterAll, beforeAll, expect, it } from "vitest";
import { openWebConfig } from "../../../src/commands/load-config.ts";
import { EventLog } from "../../../src/core/events/event-log.ts";
import type { HttpServer } from "../../../src/io/http-server/server.ts";
import { issueCertificate } from "../../support/certificates.ts";
import { recordLog } from "../../support/log-recorder.ts";
import { fullReport } from "../../support/metrics-source.ts";
import { textOf } from "../../support/outputs.ts";
import { NO_FLEET, serve } from "../../support/served.ts";
import { expectTold, verbIn } from "../../support/tell.ts";
import { webConfigFolder } from "../../support/web-configs.ts";
import { fleetReport } from "../../views/fleet-report.ts";

const FOLDER = "test/fixtures/http";
/** Headers that a story leaves out: those of HTTP itself, and those that differ each time. */
const UNTOLD = /^(date|etag|content-length|connection|transfer-encoding):/;
/** Headers that every reply has, and that every page has: a story names one only if it is missing. */
const ALWAYS = ["x-content-type-options: nosniff", "referrer-policy: no-referrer"];
const POLICY =
  "content-security-policy: default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'";
/** With the lowest cost of bcrypt. */
const HASH = bcrypt.hashSync("open sesame", 4);
const PAIR = "cert_file: cert.pem, key_file: key.pem";
const WEB_PARTS: Readonly<Record<string, string>> = {
  none: "",
  alice: `basic_auth_users: { alice: "${HASH}" }`,
  bob: `basic_auth_users: { bob: "${HASH}" }`,
  gone: "tls_server_config: { cert_file: gone.pem, key_file: key.pem }",
  deny: "http_server_config: { headers: { X-Frame-Options: deny } }",
  tls: `tls_server_config: { ${PAIR} }`,
};

let folder: ReturnType<typeof webConfigFolder>;
const CERTIFICATES = new Map<string, RequestOptions>();

beforeAll(() => {
  folder = webConfigFolder();
  const issuer = issueCertificate({ host: "clients.example" });
  folder.write("ca.pem", issuer.certPem);
  for (const name of ["stranger", "client"]) {
    const issued = issueCertificate({ host: name, ...(name === "client" ? { issuer } : {}) });
    CERTIFICATES.set(name, { cert: issued.certPem, key: issued.keyPem });
  }
});

afterAll(() => folder[Symbol.dispose]());

it.each(readdirSync(FOLDER))("startHttpServer() replies as %s says", async (name) => {
  await expectTold(`${FOLDER}/${name}`, () => new Visit());
});

/** Requests to the server, line by line; test/STORIES.md has every verb of `http`. */
class Visit implements AsyncDisposable {
  readonly #log = recordLog();
  readonly #settings = new Map<string, string>();
  readonly #news: string[] = [];
  #server: HttpServer | null = null;
  #monotonicMs = 0;
  #well = { ok: true, detail: "Fine" };

  async do(line: string): Promise<readonly string[]> {
    const [verb = "", ...words] = line.split(" ");
    if (verb === "web") {
      folder.write("web.yml", words.map(webPart).join("\n"));
    } else if (verb === "not") {
      this.#well = { ok: false, detail: words.slice(1).join(" ") };
    }
    if (/^(cors|public|report|no|web|wait|certificate|not)$/.test(verb)) {
      this.#monotonicMs += 1_000;
      this.#settings.set(verb, words.join(" "));
      return [];
    }
    const said = verb === verb.toUpperCase() ? undefined : verbIn({ read: textOf, load: filesIn }, verb);
    const [head = "", ...lines] = await this.#ask(said === undefined ? line : words.join(" "), said);
    const files = verb === "load" ? await Promise.all(lines.map(this.#load)) : lines;
    const logged = this.#log.lines
      .splice(0)
      .map(({ level, msg, detail }) => [pino.levels.labels[Number(level)], msg, detail].join(" ").trimEnd());
    const news = logged.map((one) => `log: ${one.replace(`${folder.path}/`, "")}`);
    return [head, ...files, ...this.#news.splice(0), ...news];
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server?.[Symbol.asyncDispose]();
  }

  #start(): Promise<HttpServer> {
    const report = this.#settings.has("report") ? fleetReport() : fullReport();
    const events = new EventLog();
    events.note(report, true);
    const [protocol, notice = null] = this.#settings.get("public")?.split(" | ") ?? [];
    const settings = {
      cors: this.#settings.get("cors")?.split(" ") ?? [],
      fleet: NO_FLEET,
      public: protocol === undefined ? null : { protocols: [protocol], title: "Sync status", notice },
      links: { alertmanager: null, grafana: null, runbooks: null },
    };
    const reload = async () => {
      this.#news.push("reloaded");
      return { ok: true, detail: "Reloaded x" };
    };
    const world = { readFile: folder.readFile, monotonicMs: () => this.#monotonicMs };
    return serve(
      {
        ...{ report: () => report, events, settings: () => settings },
        ...{ healthy: () => this.#well, ready: () => this.#well },
        reload: this.#settings.has("no") ? null : reload,
      },
      this.#settings.has("web")
        ? { web: openWebConfig(`${folder.path}/web.yml`, world, this.#log.logger) }
        : {},
    );
  }

  readonly #load = async (path: string): Promise<string> =>
    `${path.replace(/[.][0-9a-f]{12}/, "")}: ${(await this.#ask(`GET ${path}`, () => "")).join(" ")}`;

  async #ask(line: string, said = summaryOf): Promise<readonly string[]> {
    const [asked = "", ...parts] = line
      .replace(/(.)\{(\d+)\}/g, (_, char: string, count: string) => char.repeat(Number(count)))
      .replace(/<(.*?)>/g, (_, text: string) => Buffer.from(text).toString("base64"))
      .split(" | ");
    const [methods = "", path = ""] = asked.split(" ");
    const named = parts.map((part) => /^([\w-]+): ?(.*)$/.exec(part)?.slice(1) ?? []);
    const { body, ...headers } = Object.fromEntries(named) as Readonly<Record<string, string>>;
    const length = body === undefined ? {} : { "content-length": body.length };
    this.#server ??= await this.#start();
    const { url } = this.#server;
    const options = {
      ...{ path, headers: { ...headers, ...length }, agent: false, rejectUnauthorized: false },
      ...CERTIFICATES.get(this.#settings.get("certificate") ?? ""),
    };
    const say = async (method: string) => {
      const sent = (url.startsWith("https:") ? requestTls : request)(url, { ...options, method }).end(body);
      const response = await once(sent, "response").catch(() => null);
      return response === null ? ["closed", ""] : await read(response[0] as IncomingMessage, said);
    };
    const [[head = "", text = ""] = [], ...others] = await Promise.all(methods.split(",").map(say));
    const ofHead = methods === "GET" ? [await say("HEAD")] : [];
    expect([...others.map(([other]) => other), ...ofHead]).toEqual([
      ...others.map(() => head),
      ...ofHead.map(() => [head, ""]),
    ]);
    return (text === "" ? head : `${head}: ${text}`).trimEnd().split("\n");
  }
}

function webPart(word: string): string {
  return (
    WEB_PARTS[word] ?? `tls_server_config: { ${PAIR}, client_ca_file: ca.pem, client_auth_type: ${word} }`
  );
}

/** `404 problem+json; no-store; allow: GET`, and what the body says. */
async function read(
  response: IncomingMessage,
  said: (body: string, type: string) => string,
): Promise<readonly string[]> {
  const { "content-type": type = "no type", "cache-control": caching = "kept", ...others } = response.headers;
  const expected = type.startsWith("text/html") ? [...ALWAYS, POLICY] : ALWAYS;
  const named = Object.entries(others).map(([name, value]) => `${name}: ${String(value)}`);
  const lacking = expected.filter((one) => !named.some((header) => header.startsWith(one)));
  const told = named.filter(
    (one) =>
      !(UNTOLD.test(one) || expected.some((usual) => one.startsWith(usual) && !one.includes("unsafe"))),
  );
  const short = type.replace(/^application.|; charset=utf-8$/g, "");
  const bare = lacking.map((one) => `without ${one.split(":")[0]}`);
  const sent = await buffer(response);
  const body = others["content-encoding"] === "gzip" && sent.length > 0 ? gunzipSync(sent) : sent;
  return [
    [`${response.statusCode} ${short}`, caching, ...bare, ...told].join("; "),
    body.length === 0 ? "" : said(body.toString(), type),
  ];
}

/** The scripts and styles of a page, a line each after the first. */
function filesIn(html: string): string {
  const tags = [...html.matchAll(/<(?:script|style|link rel="stylesheet")[ >][^>]*/g)].map(([tag]) => tag);
  return ["its files", ...tags.map((tag) => / (?:src|href)="(.*?)"/.exec(tag)?.[1] ?? tag)].join("\n");
}

/** The title of a page, the detail of a problem, the verdict on health; all of a short text. */
function summaryOf(body: string, type: string): string {
  if (type.startsWith("text/html")) {
    return /<title>(.*)<\/title>/.exec(body)?.[1] ?? "no title";
  }
  if (!type.includes("json")) {
    return body.trimEnd();
  }
  const { title, detail, healthy, why, ...json } = JSON.parse(body) as Readonly<
    Record<string, string | boolean>
  >;
  if (why !== undefined) {
    return `${healthy === true ? "healthy" : "not healthy"}: ${why}`;
  }
  return detail === undefined ? Object.keys(json).join(", ").slice(0, 100) : `${title}: ${detail}`;
}
