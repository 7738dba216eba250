import { describe, expect, it } from "vitest";
import type { ServerDeps } from "../../../src/io/http-server/routes/server-deps.ts";
import { json, serve } from "../../support/served.ts";

describe("addHistoryRoute()", () => {
  it("hands the source what is asked for", async () => {
    const asked: unknown[] = [];
    const past: ServerDeps["past"] = (...args) => {
      asked.push(args);
      return { timesMs: [1_000], reference: [7], targets: {} };
    };
    await using server = await serve({ past });

    const { body } = await json(`${server.url}/api/v1/history/lockup/base?hours=6&points=50`);

    const toMs = Date.parse(String(body["generated_at"]));
    expect(asked).toEqual([
      [
        "base",
        ["lockup/multichain/production/base", "lockup/subgraph/production/base"],
        { fromMs: toMs - 6 * 3_600_000, toMs, points: 50 },
      ],
    ]);
    expect(body).toMatchObject({ chain: "base", timestamps: [1], reference_block_number: [7] });
  });

  it.each([
    { query: "hours=0" },
    { query: "hours=-1" },
    { query: "hours=1e3" },
    { query: "hours=1&hours=2" },
    { query: "points=0" },
    { query: "points=many" },
    { query: "points=100000" },
  ])("says what is wrong with $query", async ({ query }) => {
    await using server = await serve();

    const { status, body } = await json(`${server.url}/api/v1/history/lockup/base?${query}`);

    expect(status).toBe(400);
    expect(body["detail"]).toMatch(/^Cannot use (hours|points) /);
  });

  it("names what exists to one who asks for something else", async () => {
    await using server = await serve();

    const { status, body } = await json(`${server.url}/api/v1/history/lokup/base`);

    expect(status).toBe(404);
    expect(body["detail"]).toContain("lockup");
  });
});

describe("addAssetRoutes()", () => {
  it("serves what the chain's page names, for browsers to keep", async () => {
    await using server = await serve();
    const page = await (await fetch(`${server.url}/chains/base`)).text();

    const paths = [...page.matchAll(/(?:src|href)="(\/assets\/[^"]+)"/g)].map(([, path]) => path ?? "");
    const answers = await Promise.all(paths.map((path) => fetch(server.url + path)));

    expect(answers.map(({ headers }) => headers.get("content-type"))).toEqual([
      "text/css; charset=utf-8",
      "text/javascript; charset=utf-8",
    ]);
    for (const { status, headers } of answers) {
      expect(status).toBe(200);
      expect(headers.get("cache-control")).toBe("public, max-age=31536000, immutable");
    }
  });
});
