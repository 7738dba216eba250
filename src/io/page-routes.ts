import { randomBytes } from "node:crypto";
import type { FastifyInstance, FastifyReply } from "fastify";
import { renderStatusPage } from "../views/status-page.ts";
import type { HttpSource } from "./http-source.ts";

/** The pages for people. */
export function addPageRoutes(server: FastifyInstance, source: HttpSource): void {
  server.get("/", (_request, reply) => {
    const nonce = randomBytes(16).toString("base64");
    return sendPage(reply, {
      nonce,
      html: renderStatusPage(source.report(), { nonce, version: source.version }),
    });
  });
}

/** Whatever an upstream said is text: nothing runs or loads but the page's own style and script. */
function sendPage(reply: FastifyReply, { nonce, html }: { nonce: string; html: string }): FastifyReply {
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
