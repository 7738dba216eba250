import { randomBytes } from "node:crypto";
import type { FastifyInstance, FastifyReply } from "fastify";
import { renderChainPage } from "../views/chain-page.ts";
import type { PageOptions } from "../views/page-shell.ts";
import { renderStatusPage } from "../views/status-page.ts";
import type { HttpSource } from "./http-source.ts";
import { sendProblem } from "./problems.ts";

interface StatusRoute {
  readonly Querystring: Readonly<Record<string, string | readonly string[] | undefined>>;
}

interface ChainRoute {
  readonly Params: { readonly chain: string };
}

/** The pages for people. */
export function addPageRoutes(server: FastifyInstance, source: HttpSource): void {
  server.get<StatusRoute>("/", (request, reply) => {
    const { q } = request.query;
    const options = { ...pageOptions(source), ...(typeof q === "string" ? { query: q } : {}) };
    return sendPage(reply, { ...options, html: renderStatusPage(source.report(), options) });
  });

  server.get<ChainRoute>("/chains/:chain", (request, reply) => {
    const { chain } = request.params;
    const options = pageOptions(source);
    const html = renderChainPage(source.report(), chain, options);
    return html === null
      ? sendProblem(reply, 404, `Cannot find chain '${chain}': see / for what there is`)
      : sendPage(reply, { ...options, html });
  });
}

/** A nonce of its own for each answer. */
function pageOptions({ version }: HttpSource): PageOptions {
  return { nonce: randomBytes(16).toString("base64"), version };
}

/** Whatever an upstream said is text: nothing runs or loads but the page's own style and script. */
function sendPage(
  reply: FastifyReply,
  { nonce, html }: { readonly nonce: string; readonly html: string },
): FastifyReply {
  const policy = [
    "default-src 'none'",
    `style-src 'nonce-${nonce}'`,
    `script-src 'nonce-${nonce}'`,
    "connect-src 'self'",
    "img-src 'self' data:",
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
  ].join("; ");
  return reply
    .headers({ "content-security-policy": policy, "cache-control": "no-store" })
    .type("text/html; charset=utf-8")
    .send(html);
}
