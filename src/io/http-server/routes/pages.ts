import { readdirSync, readFileSync } from "node:fs";
import { parse } from "node:path";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Report } from "../../../core/model/report.ts";
import { renderChainPage } from "../../../views/page/chain.ts";
import { PLAN_PATH, RUNBOOKS_PATH, STATUSES_PATH } from "../../../views/page/links.ts";
import { renderPlanPage } from "../../../views/page/plan.ts";
import { renderErrorPage } from "../../../views/page/shell.ts";
import { renderStatusPage } from "../../../views/page/status.ts";
import { addAssetRoutes } from "./assets.ts";
import { sendOfReport } from "./bodies.ts";
import { PROBLEM_TYPE, sendProblem } from "./replies.ts";
import type { ServerDeps } from "./server-deps.ts";

/** The span of a card's line, and its number of points. */
const SPARK_MS = 6 * 3_600_000;
const SPARK_POINTS = 120;

/** Text of an upstream cannot run: only our own files may. */
const POLICY = [
  "default-src 'none'",
  "style-src 'self'",
  "script-src 'self'",
  "connect-src 'self'",
  "img-src 'self' data:",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
].join("; ");

/** The HTML pages. */
export function addPageRoutes(server: FastifyInstance, source: ServerDeps): void {
  const options = { assets: addAssetRoutes(server), version: source.version };
  const documents = readDocuments();

  server.get<PageQuery>("/", async ({ query }, reply) => {
    const report = source.report();
    const { links } = source.settings();
    const own = { ...options, links, query: textOf(query["q"]), sort: textOf(query["sort"]) };
    const plan = own.query === "" ? undefined : source.plan();
    return await sendPage(reply, report, () => renderStatusPage(report, own, plan));
  });

  server.get<{ Params: { chain: string } }>("/chains/:chain", async ({ params: { chain } }, reply) => {
    const report = source.report();
    if (report.chains.every(({ slug }) => slug !== chain)) {
      return sendProblem(reply, 404, `No chain '${chain}' is configured`);
    }
    const keys = report.targets.filter((target) => target.chain === chain).map(({ key }) => key);
    const toMs = Date.parse(report.generated_at);
    const span = { fromMs: toMs - SPARK_MS, toMs, points: SPARK_POINTS };
    return await sendPage(
      reply,
      report,
      () =>
        renderChainPage(report, chain, {
          ...options,
          links: source.settings().links,
          past: source.past(chain, keys, span),
          endpoints: source.endpoints(chain),
        }) ?? "",
    );
  });

  server.get<PageQuery>(PLAN_PATH, async ({ query }, reply) => {
    const report = source.report();
    const own = { ...options, query: textOf(query["q"]) };
    return await sendPage(reply, report, () => renderPlanPage(report, source.plan(), own));
  });

  server.get<{ Params: { file: string } }>("/docs/*", async ({ url }, reply) => {
    const path = new URL(url, "http://x").pathname.replace(/\.md$|\/$/, "");
    const markdown = documents.get(path);
    if (markdown === undefined) {
      return sendProblem(reply, 404, `No document ${path}`);
    }
    // On demand: the Markdown parser would add 10 ms to the start.
    const { renderDocumentPage } = await import("../../../views/page/document.ts");
    return reply
      .headers({ ...HEADERS, "cache-control": "no-store" })
      .send(renderDocumentPage(markdown, options));
  });

  // People get a page for an error, too.
  server.addHook("onSend", async (request, reply, payload) => {
    if (reply.getHeader("content-type") !== PROBLEM_TYPE || !isForPeople(request)) {
      return payload;
    }
    const { title, detail } = JSON.parse(String(payload)) as {
      readonly title: string;
      readonly detail: string;
    };
    void reply.headers(HEADERS).removeHeader("content-length");
    return renderErrorPage(title, detail, options);
  });
}

const HEADERS = { "content-security-policy": POLICY, "content-type": "text/html; charset=utf-8" };

interface PageQuery {
  readonly Querystring: Readonly<Record<string, unknown>>;
}

/** The value of a parameter; one that is given twice is ignored. */
function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

async function sendPage(reply: FastifyReply, report: Report, make: () => string): Promise<FastifyReply> {
  return await sendOfReport(reply.headers(HEADERS), report, make);
}

/** A browser's address bar asks for text/html; programs do not. */
function isForPeople({ headers, url }: FastifyRequest): boolean {
  return headers.accept?.includes("text/html") === true && !url.startsWith("/api/");
}

/** Beside the program, in its package and in its image. */
const DOCS = new URL("../../../../docs/", import.meta.url);

/** Markdown by path. All are read once: a server that has run out of file descriptors can still serve them. */
function readDocuments(): ReadonlyMap<string, string> {
  const read = (file: string) => readFileSync(new URL(file, DOCS), "utf8");
  const runbooks = readdirSync(new URL("runbooks/", DOCS)).map((file) => parse(file));
  return new Map([
    [STATUSES_PATH, read("statuses.md")],
    ...runbooks.map(({ name, base }) => [`${RUNBOOKS_PATH}/${name}`, read(`runbooks/${base}`)] as const),
  ]);
}
