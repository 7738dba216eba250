import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { parse } from "node:path";
import type { FastifyInstance, FastifyRequest } from "fastify";
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
import { renderBadge, renderPublicPage } from "../../../views/page/public.ts";
import { type PageAssets, type PageOptions, renderErrorPage } from "../../../views/page/shell.ts";
import { renderStatusPage } from "../../../views/page/status.ts";
import { readRange } from "../../../views/page/strip.ts";
import {
  compressed,
  HTML_HEADERS,
  PROBLEM_TYPE,
  Problem,
  sendGzipped,
  sendOfReport,
  valid,
} from "./replies.ts";
import type { ServerDeps } from "./server-deps.ts";

interface PageRoute {
  readonly Querystring: Query;
  /** As far as the path has it. */
  readonly Params: { readonly chain: string };
}

/** The HTML pages, and the files that they load. */
export function addPageRoutes(server: FastifyInstance, source: ServerDeps): void {
  const assets = addAssets(server);

  function optionsOf({ q, sort, range }: Query): PageOptions {
    const { events, version } = source;
    const view = { q: textOf(q), sort: textOf(sort), range: textOf(range) };
    return { assets, version, events, view, links: source.settings().links };
  }

  /** A page that is rendered from the latest report. */
  function page(
    path: string,
    render: (report: Report, options: PageOptions, request: FastifyRequest<PageRoute>) => string,
  ): void {
    server.get<PageRoute>(path, (request, reply) => {
      const report = source.report();
      const make = () => render(report, optionsOf(request.query), request);
      return sendOfReport(reply.headers(HTML_HEADERS), report, make);
    });
  }

  page("/", renderStatusPage);
  page(INCIDENTS_PATH, (report, options, { query: { range, ...query } }) => {
    const asked = { from: readRange(range), ...query };
    // Parameters of other pages do no harm.
    const events = valid(readSpanQuery(QUERIES.events.strip(), asked, report.generated_at));
    return renderIncidentsPage(report, events, targetsByHost(source.settings().fleet), options);
  });
  page("/chains/:chain", (report, options, { params: { chain } }) =>
    orNotFound(
      renderChainPage(report, chain, source.endpoints(chain), options),
      `No chain '${chain}' is configured`,
    ),
  );
  page(PLAN_PATH, (report, options) => renderPlanPage(report, source.plan(), options));
  addPublicView(server, source, assets.styles);
  addDocuments(server, () => optionsOf({}));

  // People get a page for an error, too: a browser's address bar asks for text/html, programs do not.
  server.addHook("onSend", async ({ headers }, reply, payload) => {
    if (reply.getHeader("content-type") !== PROBLEM_TYPE || headers.accept?.includes("text/html") !== true) {
      return payload;
    }
    // As `sendProblem` wrote it.
    const { title, detail } = JSON.parse(String(payload)) as Readonly<Record<"title" | "detail", string>>;
    void reply.headers(HTML_HEADERS).removeHeader("content-length");
    return renderErrorPage(title, detail, optionsOf({}));
  });
}

/** How long a cache in front may keep a reply. */
const PUBLIC_CACHE = "public, max-age=30";
const NOT_PUBLIC = "Not in the public view: see `public` in chains.yaml";
/** Without a password, even where all else needs one. */
const OPEN = { config: { isOpen: true } };

/** What anybody may see, where `public` is configured: a page, and a badge for each pair. */
function addPublicView(server: FastifyInstance, source: ServerDeps, styles: string): void {
  server.get("/public", OPEN, (_request, reply) => {
    const report = source.report();
    const view = orNotFound(source.settings().public, NOT_PUBLIC);
    const render = () => renderPublicPage(report, view, source.events, styles);
    return sendOfReport(reply.headers(HTML_HEADERS), report, render, PUBLIC_CACHE);
  });

  server.get<{ Params: { protocol: string; chain: string } }>(
    "/badge/:protocol/:chain.svg",
    OPEN,
    ({ params: { protocol, chain } }, reply) => {
      const report = source.report();
      const view = orNotFound(source.settings().public, NOT_PUBLIC);
      const render = () => orNotFound(renderBadge(report, view, protocol, chain), NOT_PUBLIC);
      return sendOfReport(reply.type("image/svg+xml"), report, render, PUBLIC_CACHE);
    },
  );
}

/** The documents: their index, the routes of the API, and our own Markdown. */
function addDocuments(server: FastifyInstance, options: () => PageOptions): void {
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
      return reply
        .headers({ ...HTML_HEADERS, "cache-control": "no-store" })
        .send(renderDocumentPage(orNotFound(markdown, `No document ${path}`), options()));
    });
  }
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

const require = createRequire(import.meta.url);
const TYPES = { js: "text/javascript; charset=utf-8", css: "text/css; charset=utf-8" } as const;

/** Serves the scripts and styles of the pages under names that contain their hash, and returns their paths. */
function addAssets(server: FastifyInstance): PageAssets {
  /** `file`: its path or URL. */
  function serve(name: string, type: keyof typeof TYPES, file: string | URL): string {
    const content = readFileSync(file);
    const hash = createHash("sha256").update(content).digest("hex").slice(0, 12);
    const path = `/assets/${name}.${hash}.${type}`;
    let body: Promise<Buffer> | null = null;
    server.get(path, OPEN, async (_request, reply) => {
      body ??= compressed(content);
      void reply.header("cache-control", "public, max-age=31536000, immutable").type(TYPES[type]);
      return sendGzipped(reply, await body);
    });
    return path;
  }

  const ours = (file: string) => new URL(`../../../../assets/${file}`, import.meta.url);
  return {
    styles: serve("page", "css", ours("page.css")),
    headerScript: serve("header", "js", ours("header.js")),
    script: serve("page", "js", ours("page.js")),
    plotStyles: serve("uplot", "css", require.resolve("uplot/dist/uPlot.min.css")),
    plotLibrary: serve("uplot", "js", require.resolve("uplot/dist/uPlot.iife.min.js")),
    plotScript: serve("plots", "js", ours("plots.js")),
  };
}

/** @throws {Problem} If it is null. */
function orNotFound<T>(found: T | null, detail: string): T {
  if (found === null) {
    throw new Problem(404, detail);
  }
  return found;
}

/** The value of a parameter; one that is given twice is ignored. */
function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}
