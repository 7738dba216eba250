import { readdirSync, readFileSync } from "node:fs";
import { parse } from "node:path";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { targetsByHost } from "../../../core/model/fleet.ts";
import type { Report } from "../../../core/model/report.ts";
import { QUERIES, type Query, readSpanQuery } from "../../../views/api/queries.ts";
import { renderChainPage } from "../../../views/page/chain.ts";
import { renderIncidentsPage } from "../../../views/page/incidents.ts";
import {
  API_PATH,
  DOCS_PATH,
  INCIDENTS_PATH,
  PLAN_PATH,
  RUNBOOKS_PATH,
  STATUSES_PATH,
} from "../../../views/page/links.ts";
import { renderPlanPage } from "../../../views/page/plan.ts";
import { type PageOptions, renderErrorPage } from "../../../views/page/shell.ts";
import { renderStatusPage } from "../../../views/page/status.ts";
import { readRange } from "../../../views/page/strip.ts";
import { addAssetRoutes } from "./assets.ts";
import { sendOfReport } from "./bodies.ts";
import { addPublicRoutes } from "./public.ts";
import { HTML_HEADERS, PROBLEM_TYPE, sendProblem } from "./replies.ts";
import type { ServerDeps } from "./server-deps.ts";

/** The span of a card's line, and its number of points. */
const SPARK_MS = 6 * 3_600_000;
const SPARK_POINTS = 120;

/** The HTML pages. */
export function addPageRoutes(server: FastifyInstance, source: ServerDeps): void {
  const options = { assets: addAssetRoutes(server), version: source.version };
  addPublicRoutes(server, source, options.assets.styles);

  server.get<PageQuery>("/", async ({ query }, reply) => {
    const report = source.report();
    const { links } = source.settings();
    const own = { ...options, links, query: textOf(query["q"]), sort: textOf(query["sort"]) };
    const plan = own.query === "" ? undefined : source.plan();
    const strips = { events: source.events, range: readRange(query["range"]) };
    return await sendPage(reply, report, () => renderStatusPage(report, own, { plan, strips }));
  });

  addIncidentsPage(server, source, options);

  server.get<PageQuery & { Params: { chain: string } }>("/chains/:chain", async (request, reply) => {
    const { chain } = request.params;
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
          strips: { events: source.events, range: readRange(request.query["range"]) },
          endpoints: source.endpoints(chain),
        }) ?? "",
    );
  });

  server.get<PageQuery>(PLAN_PATH, async ({ query }, reply) => {
    const report = source.report();
    const own = { ...options, query: textOf(query["q"]) };
    return await sendPage(reply, report, () => renderPlanPage(report, source.plan(), own));
  });

  addDocuments(server, options);

  // People get a page for an error, too.
  server.addHook("onSend", async (request, reply, payload) => {
    if (reply.getHeader("content-type") !== PROBLEM_TYPE || !isForPeople(request)) {
      return payload;
    }
    // As `sendProblem` wrote it.
    const { title, detail } = JSON.parse(String(payload)) as Readonly<Record<"title" | "detail", string>>;
    void reply.headers(HTML_HEADERS).removeHeader("content-length");
    return renderErrorPage(title, detail, options);
  });
}

/** Their index, the routes of the API, and our own Markdown. */
function addDocuments(server: FastifyInstance, options: PageOptions): void {
  const documents = readDocuments();
  for (const route of [DOCS_PATH, `${DOCS_PATH}/*`]) {
    server.get(route, async ({ url }, reply) => {
      const path = new URL(url, "http://x").pathname.replace(/\.md$|\/$/, "");
      // On demand: the Markdown parser and the schemas would add 10 ms each to the start.
      const { indexMarkdown, renderDocumentPage } = await import("../../../views/page/document.ts");
      const markdown =
        path === API_PATH
          ? (await import("../../../views/api/openapi.ts")).apiMarkdown()
          : (documents.get(path) ?? (path === DOCS_PATH ? indexMarkdown(documents) : null));
      return markdown === null
        ? sendProblem(reply, 404, `No document ${path}`)
        : reply
            .headers({ ...HTML_HEADERS, "cache-control": "no-store" })
            .send(renderDocumentPage(markdown, options));
    });
  }
}

function addIncidentsPage(server: FastifyInstance, source: ServerDeps, options: PageOptions): void {
  server.get<PageQuery>(INCIDENTS_PATH, async ({ query: { range: found, ...query } }, reply) => {
    const report = source.report();
    const range = readRange(found);
    const nowMs = Date.parse(report.generated_at);
    const asked = readSpanQuery(QUERIES.events, { from: range, ...query }, nowMs);
    return typeof asked === "string"
      ? sendProblem(reply, 400, asked)
      : await sendPage(reply, report, () =>
          renderIncidentsPage(report, {
            ...options,
            events: source.events,
            hosts: targetsByHost(source.settings().fleet),
            links: source.settings().links,
            asked,
            range,
          }),
        );
  });
}

interface PageQuery {
  readonly Querystring: Query;
}

/** The value of a parameter; one that is given twice is ignored. */
function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

async function sendPage(reply: FastifyReply, report: Report, make: () => string): Promise<FastifyReply> {
  return await sendOfReport(reply.headers(HTML_HEADERS), report, make);
}

/** A browser's address bar asks for text/html; programs do not. */
function isForPeople({ headers }: FastifyRequest): boolean {
  return headers.accept?.includes("text/html") === true;
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
