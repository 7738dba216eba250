import type { FastifyInstance, FastifyReply } from "fastify";
import type { RateLimit, WebSettingsSource } from "../../config/web/web-settings.ts";
import { BasicAuth } from "./basic-auth.ts";
import { sendProblem } from "./routes/replies.ts";
import { TokenBucket } from "./token-bucket.ts";

/** Before anything else: the configured headers, the rate limit, and authentication. */
export function addWebGuard(server: FastifyInstance, web: WebSettingsSource): void {
  const auth = new BasicAuth();
  const limiter = createLimiter();

  server.addHook("onRequest", async (request, reply) => {
    const { headers, rateLimit, users } = web.current;
    void reply.headers(headers);
    if (!limiter(rateLimit)) {
      return sendTooMany(reply, "Too many requests: rate_limit of the web configuration");
    }
    if (users.size === 0) {
      return;
    }
    switch (await auth.admit(users, { authorization: request.headers.authorization, client: request.ip })) {
      case "admitted":
        return;
      case "busy":
        return sendTooMany(reply, "Too many logins at once");
      case "refused":
        void reply.header("www-authenticate", 'Basic realm="synclag", charset="UTF-8"');
        return sendProblem(reply, 401, "User name and password required");
    }
  });
}

function sendTooMany(reply: FastifyReply, detail: string): FastifyReply {
  return sendProblem(reply.header("retry-after", "1"), 429, detail);
}

/** One bucket for all requests, replaced when the limit changes. */
function createLimiter(): (limit: RateLimit | null) => boolean {
  let bucket: { readonly limit: RateLimit; readonly tokens: TokenBucket } | null = null;
  return (limit) => {
    if (limit === null) {
      bucket = null;
      return true;
    }
    if (bucket?.limit !== limit) {
      bucket = { limit, tokens: new TokenBucket(limit, () => performance.now()) };
    }
    return bucket.tokens.take();
  };
}
