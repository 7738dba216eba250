import type { FastifyInstance, FastifyReply } from "fastify";
import type { PublicView } from "../../../core/model/links.ts";
import type { Report } from "../../../core/model/report.ts";
import { renderBadge, renderPublicPage } from "../../../views/page/public.ts";
import { sendOfReport } from "./bodies.ts";
import { HTML_HEADERS, sendProblem } from "./replies.ts";
import type { ServerDeps } from "./server-deps.ts";

/** A cache in front may keep a reply for so long. */
const CACHE = "public, max-age=30";
/** Without a password, even where all else needs one. */
const OPEN = { config: { isOpen: true } };

/** What anybody may see, where `public` is configured: a page, and a badge for each pair. */
export function addPublicRoutes(server: FastifyInstance, source: ServerDeps, styles: string): void {
  server.get("/public", OPEN, (_request, reply) =>
    answer(reply.headers(HTML_HEADERS), (report, view) =>
      renderPublicPage(report, view, source.events, styles),
    ),
  );

  server.get<{ Params: { protocol: string; chain: string } }>(
    "/badge/:protocol/:chain.svg",
    OPEN,
    ({ params: { protocol, chain } }, reply) =>
      answer(reply.type("image/svg+xml"), (report, view) => renderBadge(report, view, protocol, chain)),
  );

  async function answer(
    reply: FastifyReply,
    make: (report: Report, view: PublicView) => string | null,
  ): Promise<FastifyReply> {
    const view = source.settings().public;
    const report = source.report();
    const body = view === null ? null : make(report, view);
    return body === null
      ? sendProblem(reply, 404, "There is no public view of this: see `public` in chains.yaml")
      : await sendOfReport(reply, report, () => body, CACHE);
  }
}
