import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { Problem, sendFresh, sendGzipped } from "./replies.ts";
import type { ProbeResult, ServerDeps } from "./server-deps.ts";

/** `/metrics`, the probes of an orchestrator, and reload. */
export function addManagementRoutes(server: FastifyInstance, source: ServerDeps): void {
  server.get("/metrics", async (_request, reply) => {
    const { contentType, gzipped } = await source.metrics();
    return await sendGzipped(reply.header("cache-control", "no-store").type(contentType), gzipped);
  });
  server.get("/-/healthy", (_request, reply) => sendProbe(reply, source.healthy()));
  server.get("/-/ready", (_request, reply) => sendProbe(reply, source.ready()));

  const { reload } = source;
  server.post("/-/reload", async (request, reply) => {
    if (isCrossSite(request)) {
      throw new Problem(403, "Cross-site requests cannot reload");
    }
    if (reload === null) {
      throw new Problem(403, "Reload over HTTP is disabled: start with --enable-lifecycle, or send SIGHUP");
    }
    return sendProbe(reply, await reload(), 422);
  });
}

/**
 * Whether a browser sends a request on behalf of another site. Danger: any open page could trigger a reload, because a browser
 * asks for no permission before a POST without a body. Only browsers send `sec-fetch-site` and `origin`.
 */
function isCrossSite({ headers, host }: FastifyRequest): boolean {
  const site = headers["sec-fetch-site"];
  if (site !== undefined) {
    return site !== "same-origin" && site !== "none";
  }
  const { origin } = headers;
  return origin !== undefined && !(URL.canParse(origin) && new URL(origin).host === host);
}

function sendProbe(reply: FastifyReply, { ok, detail }: ProbeResult, failure = 503): FastifyReply {
  if (!ok) {
    throw new Problem(failure, detail);
  }
  return sendFresh(reply, "text/plain; charset=utf-8", `${detail}\n`);
}
