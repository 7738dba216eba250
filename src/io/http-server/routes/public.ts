import type { FastifyInstance } from "fastify";
import { renderBadge, renderPublicPage } from "../../../views/page/public.ts";
import { sendOfReport } from "./bodies.ts";
import { HTML_HEADERS, sendProblem } from "./replies.ts";
import type { ServerDeps } from "./server-deps.ts";

/** How long a cache in front may keep a reply. */
const CACHE = "public, max-age=30";
const NOT_PUBLIC = "Not in the public view: see `public` in chains.yaml";
/** Without a password, even where all else needs one. */
const OPEN = { config: { isOpen: true } };

/** What anybody may see, where `public` is configured: a page, and a badge for each pair. */
export function addPublicRoutes(server: FastifyInstance, source: ServerDeps, styles: string): void {
  server.get("/public", OPEN, (_request, reply) => {
    const view = source.settings().public;
    const report = source.report();
    return view === null
      ? sendProblem(reply, 404, NOT_PUBLIC)
      : sendOfReport(
          reply.headers(HTML_HEADERS),
          report,
          () => renderPublicPage(report, view, source.events, styles),
          CACHE,
        );
  });

  server.get<{ Params: { protocol: string; chain: string } }>(
    "/badge/:protocol/:chain.svg",
    OPEN,
    ({ params: { protocol, chain } }, reply) => {
      const view = source.settings().public;
      const report = source.report();
      const badge = view && renderBadge(report, view, protocol, chain);
      return badge === null
        ? sendProblem(reply, 404, NOT_PUBLIC)
        : sendOfReport(reply.type("image/svg+xml"), report, () => badge, CACHE);
    },
  );
}
