import type { FastifyInstance } from "fastify";
import { describeMissingPair, filterStatus } from "../../../views/api/filter-status.ts";
import { statusJson } from "../../../views/api/status.ts";
import { sendJson, sendProblem } from "./replies.ts";
import type { ServerDeps } from "./server-deps.ts";

interface PairRoute {
  readonly Params: { readonly protocol: string; readonly chain: string };
}

/** The JSON API: its description, and the report, whole or for one protocol and chain. */
export function addApiRoutes(server: FastifyInstance, source: ServerDeps): void {
  server.get("/openapi.json", async (_request, reply) => {
    // On demand: its schemas would add 10 ms to the start.
    const { openapiDocument } = await import("../../../views/api/openapi.ts");
    return sendJson(reply, openapiDocument(source.version));
  });
  server.get("/api/v1/status", (_request, reply) => sendJson(reply, statusJson(source.report())));

  server.get<PairRoute>("/api/v1/status/:protocol/:chain", (request, reply) => {
    const { protocol, chain } = request.params;
    const json = statusJson(source.report());
    const filtered = filterStatus(json, protocol, chain);
    return filtered === null
      ? sendProblem(reply, 404, describeMissingPair(json, protocol, chain))
      : sendJson(reply, filtered);
  });
}
