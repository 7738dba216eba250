import bcrypt from "bcryptjs";
import { expect, it } from "vitest";
import type { HttpServer } from "../../../src/io/http-server/server.ts";
import { NO_FLEET, serve } from "../../support/served.ts";

const PATHS = ["/api/v1/health/lockup/base", "/api/v1/health/lockup", "/api/v1/health/nothing"];
const APP = "https://app.example";
const LINKS = { alertmanager: null, grafana: null, runbooks: null };

function serveTo(...cors: readonly string[]): Promise<HttpServer> {
  return serve({ settings: () => ({ cors, fleet: NO_FLEET, public: null, links: LINKS }) });
}

async function allowed(server: HttpServer, path: string, origin: string): Promise<string | null> {
  const { headers } = await fetch(server.url + path, { headers: { origin } });
  return headers.get("access-control-allow-origin");
}

it("lets pages of the configured origins read the health of a pair and of a protocol, errors included", async () => {
  await using server = await serveTo("http://localhost:3000", APP);

  for (const path of PATHS) {
    expect(await allowed(server, path, APP)).toBe(APP);
    expect(await allowed(server, path, "https://other.example")).toBeNull();
    expect((await fetch(server.url + path)).headers.get("vary")).toBe("origin");
  }
  expect(await allowed(server, "/api/v1/status", APP)).toBeNull();
});

it("lets any origin read it with *, and no origin without configuration", async () => {
  await using open = await serveTo("*");
  await using closed = await serveTo();

  expect(await allowed(open, PATHS[0] ?? "", APP)).toBe("*");
  expect(await allowed(closed, PATHS[0] ?? "", APP)).toBeNull();
});

it("answers what browsers ask before a request with a password, without one", async () => {
  const users = new Map([["alice", bcrypt.hashSync("open sesame", 4)]]);
  const current = { file: "", tls: null, users, headers: {} };
  const settings = () => ({ cors: [APP], fleet: NO_FLEET, public: null, links: LINKS });
  await using server = await serve({ settings }, { web: { current } });
  const ask = (origin: string) =>
    fetch(`${server.url}/api/v1/health/lockup`, {
      method: "OPTIONS",
      headers: {
        origin,
        "access-control-request-method": "GET",
        "access-control-request-headers": "authorization",
      },
    });

  const answer = await ask(APP);

  expect(answer.status).toBe(204);
  expect(answer.headers.get("access-control-allow-origin")).toBe(APP);
  expect(answer.headers.get("access-control-allow-methods")).toBe("GET, HEAD");
  expect(answer.headers.get("access-control-allow-headers")).toBe("authorization");
  expect((await ask("https://other.example")).status).toBe(401);
  expect((await fetch(`${server.url}/api/v1/health/lockup`, { headers: { origin: APP } })).status).toBe(401);
});
