import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { FastifyInstance } from "fastify";
import { indexerKey, targetsByHost } from "../../../core/model/fleet.ts";
import type { Report } from "../../../core/model/report.ts";
import { QUERIES, type Query, readSpanQuery } from "../../../views/api/queries.ts";
import { renderChainPage } from "../../../views/page/chain.ts";
import { renderIncidentsPage } from "../../../views/page/incidents.ts";
import { INCIDENTS_PATH, PLAN_PATH, type View } from "../../../views/page/links.ts";
import { renderPlanPage } from "../../../views/page/plan.ts";
import { renderBadge, renderPublicPage } from "../../../views/page/public.ts";
import { type PageAssets, type PageOptions, renderErrorPage } from "../../../views/page/shell.ts";
import { renderStatusPage } from "../../../views/page/status.ts";
import { RANGES, readRange } from "../../../views/page/strip.ts";
import { addDocuments } from "./documents.ts";
import {
  compressed,
  HTML_HEADERS,
  orNotFound,
  PROBLEM_TYPE,
  sendGzipped,
  sendOfReport,
  valid,
} from "./replies.ts";
import type { ServerDeps } from "./server-deps.ts";

interface PageRoute {
  readonly Querystring: Query;
  /** The parameter that some paths have. */
  readonly Params: { readonly chain: string };
}

/** The HTML pages, and the files that they load. */
export function addPageRoutes(server: FastifyInstance, source: ServerDeps): void {
  const assets = addAssets(server);

  function optionsOf(view: View): PageOptions {
    const { events, version } = source;
    return { assets, version, events, view, links: source.settings().links };
  }

  /** A page that is rendered from the latest report, the view and what `read` finds in the rest of the query. */
  function page<Asked extends object>(
    path: string,
    read: (query: Query, now: string) => Asked,
    render: (report: Report, options: PageOptions, asked: Asked, chain: string) => string,
  ): void {
    server.get<PageRoute>(path, ({ params: { chain }, query }, reply) => {
      const report = source.report();
      const view = viewOf(report, query);
      const asked = read(query, report.generated_at);
      const make = () => render(report, optionsOf(view), asked, chain);
      return sendOfReport(reply.headers(HTML_HEADERS), { report, asked: { view, ...asked }, make });
    });
  }
  const nothing = () => ({});

  page("/", nothing, renderStatusPage);
  page(
    INCIDENTS_PATH,
    ({ range, ...query }, now) =>
      // Parameters of other pages are ignored.
      valid(readSpanQuery(QUERIES.events.strip(), { from: readRange(range), ...query }, now)),
    (report, options, asked) =>
      renderIncidentsPage(report, asked, targetsByHost(source.settings().fleet), options),
  );
  page("/chains/:chain", nothing, (report, options, _asked, chain) =>
    orNotFound(
      renderChainPage(report, chain, source.endpoints(chain), options),
      `No chain '${chain}' is configured`,
    ),
  );
  page(PLAN_PATH, nothing, (report, options) => renderPlanPage(report, source.plan(), options));
  addPublicView(server, source, assets.styles);
  addDocuments(server, () => optionsOf(NO_VIEW));

  // People get a page for an error, too: a browser's address bar asks for text/html, programs do not.
  server.addHook("onSend", async ({ headers }, reply, payload) => {
    if (reply.getHeader("content-type") !== PROBLEM_TYPE || headers.accept?.includes("text/html") !== true) {
      return payload;
    }
    // The JSON that `sendProblem` wrote.
    const { title, detail } = JSON.parse(String(payload)) as Readonly<Record<"title" | "detail", string>>;
    void reply.headers(HTML_HEADERS).removeHeader("content-length");
    return renderErrorPage(title, detail, optionsOf(NO_VIEW));
  });
}

/** How long the public page keeps its report, and caches keep the page: anybody can ask, and drawing 90 days takes long. */
const PUBLIC_SECONDS = 30;
const PUBLIC_CACHE = `public, max-age=${PUBLIC_SECONDS}`;
const NOT_PUBLIC = "Not in the public view: see `public` in chains.yaml";
/** The option of routes that need no password, even if all others do. */
const OPEN = { config: { isOpen: true } };

/** The page and the badges that anybody may see if `public` is configured. */
function addPublicView(server: FastifyInstance, source: ServerDeps, styles: string): void {
  let kept: Report | null = null;
  function recentReport(): Report {
    const report = source.report();
    const ageMs = Date.parse(report.generated_at) - Date.parse(kept?.generated_at ?? "");
    kept = kept !== null && ageMs >= 0 && ageMs < PUBLIC_SECONDS * 1_000 ? kept : report;
    return kept;
  }

  server.get("/public", OPEN, (_request, reply) => {
    const report = recentReport();
    const view = orNotFound(source.settings().public, NOT_PUBLIC);
    const make = () => renderPublicPage(report, view, source.events, styles);
    return sendOfReport(reply.headers(HTML_HEADERS), {
      report,
      asked: view,
      make,
      cacheControl: PUBLIC_CACHE,
    });
  });

  server.get<{ Params: { protocol: string; chain: string } }>(
    "/badge/:protocol/:chain.svg",
    OPEN,
    ({ params: { protocol, chain } }, reply) => {
      const report = recentReport();
      const view = orNotFound(source.settings().public, NOT_PUBLIC);
      const make = () => orNotFound(renderBadge(report, view, protocol, chain), NOT_PUBLIC);
      return sendOfReport(reply.type("image/svg+xml"), {
        report,
        asked: view,
        make,
        cacheControl: PUBLIC_CACHE,
      });
    },
  );
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

const NO_VIEW: View = { q: "", sort: "", range: "" };

/** The view that a query selects. A column or range that does not exist counts as absent. */
function viewOf(report: Report, { q, range, sort }: Query): View {
  const column = textOf(sort);
  return {
    q: textOf(q),
    sort: column === "chain" || report.targets.some((one) => indexerKey(one) === column) ? column : "",
    range: Object.hasOwn(RANGES, textOf(range)) ? textOf(range) : "",
  };
}

/** The value of a parameter; a repeated parameter is ignored. */
function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}
