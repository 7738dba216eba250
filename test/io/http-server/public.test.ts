import bcrypt from "bcryptjs";
import { describe, expect, it } from "vitest";
import { EventLog } from "../../../src/core/events/event-log.ts";
import type { PublicView } from "../../../src/core/model/links.ts";
import type { Report } from "../../../src/core/model/report.ts";
import { textOf } from "../../support/outputs.ts";
import { NO_FLEET, serve } from "../../support/served.ts";
import { fleetReport } from "../../views/fleet-report.ts";

const LINKS = { alertmanager: null, grafana: null, runbooks: null };

async function serveView(view: PublicView | null, report: Report = fleetReport()) {
  const users = new Map([["alice", bcrypt.hashSync("open sesame", 4)]]);
  const events = new EventLog();
  events.note(report, true);
  const settings = () => ({ cors: ["*"], fleet: NO_FLEET, public: view, links: LINKS });
  return await serve(
    { report: () => report, events, settings },
    { web: { current: { file: "", tls: null, users, headers: {} } } },
  );
}

describe("the public view", () => {
  it("shows pairs without a password, and neither hosts nor variants nor reasons", async () => {
    await using server = await serveView({ protocols: ["lockup"], title: "Sync status" });

    const answer = await fetch(`${server.url}/public`);
    const body = await answer.text();
    const style = /href="(\/assets\/[^"]+css)"/.exec(body)?.[1] ?? "";

    expect(answer.status).toBe(200);
    expect(answer.headers.get("cache-control")).toBe("public, max-age=30");
    expect(answer.headers.get("access-control-allow-origin")).toBe("*");
    expect(textOf(body)).toContain("Sync status: Some systems are");
    expect(textOf(body)).toMatch(/Base (✓ operational|▲ degraded|✕ down)/);
    expect(body).not.toMatch(/airdrops|multichain|subgraph|\.example|behind|stalled|key/);
    expect((await fetch(server.url + style)).status).toBe(200);
    expect((await fetch(`${server.url}/api/v1/status`)).status).toBe(401);
  });

  it("has a badge for each pair that it shows, as valid XML", async () => {
    await using server = await serveView({ protocols: ["lockup"], title: "Status" });

    const badge = await fetch(`${server.url}/badge/lockup/base.svg`);
    const body = await badge.text();

    expect(badge.headers.get("content-type")).toBe("image/svg+xml");
    expect(body).toMatch(/^<svg [^>]*aria-label="lockup on Base: (operational|degraded|down)"/);
    expect(body).not.toContain("NaN");
    expect((await fetch(`${server.url}/badge/airdrops/base.svg`)).status).toBe(404);
  });

  it("is not there unless it is configured", async () => {
    await using server = await serveView(null);

    expect((await fetch(`${server.url}/public`)).status).toBe(404);
    expect((await fetch(`${server.url}/badge/lockup/base.svg`)).status).toBe(404);
  });
});
