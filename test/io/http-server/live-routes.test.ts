import { describe, expect, it } from "vitest";
import type { ServerDeps } from "../../../src/io/http-server/server-deps.ts";
import { json, serve } from "../../support/served.ts";

describe("addEventRoutes()", () => {
  it("tells whoever listens that there is something new", async () => {
    const { news, tell } = createNews();
    await using server = await serve({ onNews: news });
    const first = await listen(server.url);
    const second = await listen(server.url);

    tell(7);

    expect(first.response.headers.get("content-type")).toBe("text/event-stream");
    expect(first.response.headers.get("cache-control")).toBe("no-store");
    expect(await first.next()).toBe("id: 7\nevent: report\ndata: 7\n\n");
    expect(await second.next()).toBe("id: 7\nevent: report\ndata: 7\n\n");
  });

  it("lets the server close while somebody listens", async () => {
    const { news } = createNews();
    const server = await serve({ onNews: news });
    const listener = await listen(server.url);

    const startedMs = performance.now();
    await server[Symbol.asyncDispose]();

    expect(performance.now() - startedMs).toBeLessThan(1_000);
    expect(await listener.next()).toBeNull();
  });

  it("takes no more listeners than it can bear, and others once one is gone", async () => {
    const { news } = createNews();
    await using server = await serve({ onNews: news });
    const listeners = await Promise.all(Array.from({ length: 64 }, () => listen(server.url)));

    const refused = await json(`${server.url}/api/v1/events`);
    await listeners[0]?.leave();

    expect(refused).toMatchObject({ status: 503, contentType: "application/problem+json; charset=utf-8" });
    await expect.poll(async () => (await listen(server.url)).response.status).toBe(200);
  });

  it("no longer tells one that is gone", async () => {
    const { news, tell } = createNews();
    await using server = await serve({ onNews: news });
    const gone = await listen(server.url);
    const stays = await listen(server.url);

    await gone.leave();
    tell(1);

    expect(await stays.next()).toContain("id: 1\n");
  });

  it("asks for nothing more of the source once the server is closed", async () => {
    const { news, listeners } = createNews();
    const server = await serve({ onNews: news });
    expect(listeners()).toBe(1);

    await server[Symbol.asyncDispose]();

    expect(listeners()).toBe(0);
  });
});

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

/** A source of news, and the one who has some. */
function createNews() {
  const listeners = new Set<(id: number) => void>();
  const news: ServerDeps["onNews"] = (listener) => {
    listeners.add(listener);
    return () => listeners.delete(listener);
  };
  return {
    news,
    listeners: () => listeners.size,
    tell: (id: number) => {
      for (const listener of listeners) {
        listener(id);
      }
    },
  };
}

/** Listens from now on: what comes first is taken. */
async function listen(url: string) {
  const response = await fetch(`${url}/api/v1/events`);
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  const next = async () => (await reader?.read())?.value ?? null;
  await next();
  return { response, next, leave: async () => await reader?.cancel() };
}
