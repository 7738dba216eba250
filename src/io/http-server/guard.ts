import type { FastifyInstance } from "fastify";
import type { WebSettingsSource } from "../../config/config.ts";
import { BasicAuth } from "./basic-auth.ts";
import { sendProblem } from "./routes/replies.ts";

declare module "fastify" {
  interface FastifyContextConfig {
    /** Needs no password. */
    readonly isOpen?: boolean;
  }
}

/** Before anything else: the configured headers, and authentication. */
export function addWebGuard(server: FastifyInstance, web: WebSettingsSource): void {
  const auth = new BasicAuth();

  server.addHook("onRequest", async (request, reply) => {
    const { headers, users } = web.current;
    void reply.headers(headers);
    if (users.size === 0 || request.routeOptions.config.isOpen === true) {
      return;
    }
    switch (await auth.admit(users, { authorization: request.headers.authorization, client: request.ip })) {
      case "admitted":
        return;
      case "busy":
        return sendProblem(reply.header("retry-after", "1"), 429, "Too many logins at once");
      case "refused":
        void reply.header("www-authenticate", 'Basic realm="synclag", charset="UTF-8"');
        return sendProblem(reply, 401, "User name and password required");
    }
  });
}
