import { readFile } from "node:fs/promises";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { ServerDeps } from "../../../src/io/http-server/routes/server-deps.ts";
import type { HttpServer } from "../../../src/io/http-server/server.ts";
import { fullReport } from "../../support/metrics-source.ts";
import { ask, json, METRICS, PROBLEM_TYPE, serve } from "../../support/served.ts";
import {
  sampleChain,
  sampleChainReport,
  sampleReport,
  sampleTarget,
  sampleTargetReport,
} from "../../views/sample-report.ts";

const HOUR_MS = 3_600_000;
const HTML = "text/html; charset=utf-8";
const JSON_TYPE = "application/json; charset=utf-8";
const TEXT = "text/plain; charset=utf-8";
const EMPTY_PAST = { timesMs: [], reference: [], targets: {} };
const BROWSER = { accept: "text/html,application/xhtml+xml,*/*;q=0.8" };
const FINE = { ok: true, detail: "Fine" };

/** What the one server of this file is asked for; a test sets what it needs otherwise. */
interface Source {
  report: ServerDeps["report"];
  metrics: ServerDeps["metrics"];
  healthy: ServerDeps["healthy"];
  ready: ServerDeps["ready"];
  past: ServerDeps["past"];
  reload: NonNullable<ServerDeps["reload"]>;
}
let source: Source;
let reloads: number;
let bugs: (readonly [unknown, string])[];
let server: HttpServer;

beforeEach(() => {
  reloads = 0;
  bugs = [];
  source = {
    report: fullReport,
    metrics: () => Promise.resolve(METRICS),
    healthy: () => FINE,
    ready: () => FINE,
    past: () => EMPTY_PAST,
    reload: () => Promise.resolve({ ok: true, detail: "Reloaded x" }),
  };
});

beforeAll(async () => {
  server = await serve(
    {
      report: () => source.report(),
      metrics: () => source.metrics(),
      healthy: () => source.healthy(),
      ready: () => source.ready(),
      past: (...asked) => source.past(...asked),
      reload: () => {
        reloads += 1;
        return source.reload();
      },
    },
    { onError: (error, route) => bugs.push([error, route]) },
  );
});

afterAll(() => server[Symbol.asyncDispose]());

describe("startHttpServer()", () => {
  it("serves each route fresh, with its type, to GET and HEAD, and takes a slash at the end for none", async () => {
    const types: Readonly<Record<string, string>> = {
      "/metrics": METRICS.contentType,
      "/metrics/": METRICS.contentType,
      "/": HTML,
      "/?q=lockup+base": HTML,
      "/chains/base": HTML,
      "/plan": HTML,
      "/docs": HTML,
      "/docs/": HTML,
      "/docs/api": HTML,
      "/docs/statuses": HTML,
      "/docs/runbooks/SynclagDown": HTML,
      "/api/v1/status": JSON_TYPE,
      "/api/v1/status/": JSON_TYPE,
      "/api/v1/status/lockup/base": JSON_TYPE,
      "/api/v1/status/lockup/base/": JSON_TYPE,
      "/api/v1/health/lockup/base": JSON_TYPE,
      "/api/v1/history/lockup/base": JSON_TYPE,
      "/openapi.json": JSON_TYPE,
      "/-/healthy": TEXT,
      "/-/ready": TEXT,
    };
    const paths = Object.keys(types);

    const answers = await Promise.all(
      paths.flatMap((path) => ["GET", "HEAD"].map((method) => fetch(server.url + path, { method }))),
    );
    const bodies = await Promise.all(answers.map((answer) => answer.text()));

    expect(
      answers.map(({ status, headers }, index) => [
        status,
        headers.get("content-type"),
        headers.get("cache-control"),
        headers.get("x-content-type-options"),
        bodies[index] !== "",
      ]),
    ).toEqual(
      paths.flatMap((path) =>
        [true, false].map((hasBody) => [200, types[path], cachingOf(path), "nosniff", hasBody]),
      ),
    );
  });

  it("answers 404 for unknown names, with a problem that names them or similar ones", async () => {
    const named: Readonly<Record<string, string>> = {
      "/api/v1/status/lokup/base": "lockup",
      "/api/v1/status/lockup/bas": "base",
      "/api/v1/health/lockup/bas": "base",
      "/api/v1/health/lockup/base?variant=graph": "subgraph",
      "/api/v1/health/lockup/base?tier=staging":
        "Cannot find tier 'staging' of lockup/base: available are production",
      "/api/v1/history/lokup/base": "lockup",
      "/chains/bas": "bas",
      "/docs/runbooks/Nothing": "Nothing",
      "/nowhere": "/nowhere",
      "/metrics/more": "/metrics/more",
      "/api/v1/status/lockup": "/api/v1/status/lockup",
      "//metrics": "//metrics",
      "/METRICS": "/METRICS",
    };

    for (const [path, name] of Object.entries(named)) {
      expect(await json(server.url + path)).toEqual({
        status: 404,
        contentType: PROBLEM_TYPE,
        body: {
          type: "about:blank",
          title: "Not Found",
          status: 404,
          detail: expect.stringContaining(name),
        },
      });
    }
  });

  it("answers 405 with Allow to any other method, whatever comes along", async () => {
    const methods = ["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "QUERY"];
    const asked = ["/metrics", "/", "/chains/base", "/api/v1/status", "/-/healthy"].flatMap((path) =>
      methods.map((method) => `${method} ${path} HTTP/1.1`),
    );

    const answers = await Promise.all(
      asked.map((line) => ask(server.url, [line, "content-type: text/xml", "content-length: 3"], "<x>")),
    );
    const ofReload = await Promise.all(
      ["GET", "HEAD", "DELETE"].map((method) => fetch(`${server.url}/-/reload`, { method })),
    );

    const refused =
      /^HTTP\/1\.1 405 (?=.*\r\nallow: GET, HEAD\r\n).*\r\ncontent-type: application\/problem\+json; charset=utf-8\r\n/s;
    expect(asked.filter((_, index) => !refused.test(answers[index] ?? ""))).toEqual([]);
    expect(ofReload.map(({ status, headers }) => [status, headers.get("allow")])).toEqual(
      Array(3).fill([405, "POST"]),
    );
  });
});

describe("/openapi.json", () => {
  it("describes only existing routes, and names the version", async () => {
    const { body } = await json(`${server.url}/openapi.json`);
    // The document is ours: each path holds its methods, beside parameters that all of them share.
    const paths = body["paths"] as Readonly<Record<string, Readonly<Record<string, unknown>>>>;

    const answers = Object.entries(paths).flatMap(([path, item]) =>
      Object.keys(item)
        .filter((key) => key !== "parameters")
        .map(async (method) => {
          const url = server.url + path.replace("{protocol}", "lockup").replace("{chain}", "base");
          return { path, status: (await fetch(url, { method: method.toUpperCase() })).status };
        }),
    );

    expect(answers.length).toBeGreaterThan(5);
    expect((await Promise.all(answers)).filter(({ status }) => status !== 200)).toEqual([]);
    expect(body["info"]).toMatchObject({ version: "9.9.9" });
  });
});

describe("/-/healthy and /-/ready", () => {
  it("say why not, with 503", async () => {
    source.healthy = () => ({ ok: false, detail: "Stuck for 20 s" });
    source.ready = () => ({ ok: false, detail: "No round yet" });

    const answers = [await json(`${server.url}/-/healthy`), await json(`${server.url}/-/ready`)];

    expect(answers).toMatchObject([
      { status: 503, contentType: PROBLEM_TYPE, body: { detail: "Stuck for 20 s" } },
      { status: 503, contentType: PROBLEM_TYPE, body: { detail: "No round yet" } },
    ]);
  });
});

describe("/-/reload", () => {
  it("is refused unless enabled, with what to do instead", async () => {
    await using disabled = await serve();

    const { status, body } = await json(`${disabled.url}/-/reload`, { method: "POST" });

    expect(status).toBe(403);
    expect(body["detail"]).toContain("SIGHUP");
  });

  it("reloads, whatever small body comes along", async () => {
    const inits = [
      {},
      // As curl -d '' sends.
      { headers: { "content-type": "application/x-www-form-urlencoded" }, body: "" },
      { headers: { "content-type": "application/json" }, body: "{" },
    ];

    const answers = await Promise.all(
      inits.map((init) => fetch(`${server.url}/-/reload`, { method: "POST", ...init })),
    );
    const large = await fetch(`${server.url}/-/reload`, { method: "POST", body: "x".repeat(5_000) });

    expect(await Promise.all(answers.map(async (answer) => [answer.status, await answer.text()]))).toEqual(
      Array(3).fill([200, "Reloaded x\n"]),
    );
    expect([large.status, reloads]).toEqual([413, 3]);
  });

  it("is not for the page of another site", async () => {
    const cases: readonly (readonly [readonly string[], number])[] = [
      [["sec-fetch-site: cross-site"], 403],
      // Another port of this host.
      [["sec-fetch-site: same-site"], 403],
      [["origin: https://evil.example"], 403],
      [["origin: null"], 403],
      [["sec-fetch-site: same-origin"], 200],
      [["host: a:1", "origin: http://a:1"], 200],
      // A program.
      [[], 200],
    ];

    const answers = await Promise.all(
      cases.map(([headers]) => ask(server.url, ["POST /-/reload HTTP/1.1", "content-length: 0", ...headers])),
    );

    expect(answers.map((answer, index) => [cases[index]?.[0], Number(answer.slice(9, 12))])).toEqual(cases);
    expect(reloads).toBe(3);
  });
});

describe("/api/v1/health/{protocol}/{chain}", () => {
  const healthUrl = (query: string) => `${server.url}/api/v1/health/lockup/base${query}`;

  it("answers 200 or 503 for the variant, the tier and the lag that are asked for", async () => {
    const statuses: Readonly<Record<string, number>> = {
      "": 200,
      "?variant=&max_lag=600": 200,
      "?max_lag=4": 200,
      "?max_lag=3.999": 503,
      "?variant=multichain": 200,
      "?variant=subgraph": 503,
      "?variant=&tier=production": 200,
      "?variant=subgraph&tier=production": 503,
    };

    const answers = await Promise.all(
      Object.keys(statuses).map(async (query) => {
        const { status, body } = await json(healthUrl(query));
        return [query, status, body["healthy"]];
      }),
    );

    expect(answers).toEqual(
      Object.entries(statuses).map(([query, status]) => [query, status, status === 200]),
    );
  });

  it("answers 400 to an invalid lag and to a repeated parameter", async () => {
    const lags = ["x", "-1", "10m", "NaN", "Infinity"];
    const queries = [
      ...lags.map((lag) => `?max_lag=${lag}`),
      "?max_lag=1&max_lag=2",
      "?variant=a&variant=b",
      "?tier=a&tier=b",
    ];

    const answers = await Promise.all(queries.map((query) => json(healthUrl(query))));

    expect(answers.map(({ status, contentType }) => [status, contentType])).toEqual(
      queries.map(() => [400, PROBLEM_TYPE]),
    );
    expect(answers[0]?.body["detail"]).toContain("expected number");
  });
});

describe("/api/v1/health/{protocol}", () => {
  it("asks for the lag of each chain's own threshold unless told otherwise, and says which chains are not healthy", async () => {
    const thresholds = { ...sampleChain().thresholds, laggingMs: 30_000 };
    const onGnosis = sampleTarget({ chain: "gnosis", chainId: 100 });
    const chains = [
      sampleChainReport({ targets: [sampleTargetReport({ lag_seconds: 60 })] }),
      sampleChainReport({
        chain: sampleChain({ slug: "gnosis", id: 100, thresholds }),
        targets: [sampleTargetReport({ target: onGnosis, lag_seconds: 60 })],
      }),
    ];
    source.report = () => sampleReport({ chains });

    const answers = await Promise.all(
      ["", "?max_lag=100", "?variant=subgrph", "?max_lag=x"].map((query) =>
        json(`${server.url}/api/v1/health/lockup${query}`),
      ),
    );

    expect(answers.map(({ status, body }) => [status, body["why"]])).toEqual([
      [503, "not healthy on 1 of 2 chains: gnosis"],
      [200, "healthy on 2 chains"],
      [404, undefined],
      [400, undefined],
    ]);
  });
});

describe("/api/v1/history/{protocol}/{chain}", () => {
  it("passes the parameters to the source", async () => {
    const asked: unknown[] = [];
    source.past = (...args) => {
      asked.push(args);
      return { timesMs: [1_000], reference: [7], targets: {} };
    };

    const { body } = await json(`${server.url}/api/v1/history/lockup/base?hours=6&points=50`);

    const toMs = Date.parse(String(body["generated_at"]));
    expect(asked).toEqual([
      [
        "base",
        ["lockup/multichain/production/base", "lockup/subgraph/production/base"],
        { fromMs: toMs - 6 * HOUR_MS, toMs, points: 50 },
      ],
    ]);
    expect(body).toMatchObject({ chain: "base", timestamps: [1], reference_block_number: [7] });
  });

  it("reports invalid parameters", async () => {
    const queries = [
      "hours=0",
      "hours=-1",
      "hours=1e3",
      "hours=1&hours=2",
      "points=0",
      "points=many",
      "points=100000",
    ];

    const answers = await Promise.all(
      queries.map((query) => json(`${server.url}/api/v1/history/lockup/base?${query}`)),
    );

    expect(answers.map(({ status }) => status)).toEqual(queries.map(() => 400));
    expect(answers.map(({ body }) => String(body["detail"]).split(" ", 3).join(" "))).toEqual(
      queries.map((query) => `Cannot use ${query.split("=")[0]}`),
    );
  });
});

describe("the pages", () => {
  it("run and load nothing but our own files", async () => {
    for (const path of ["/", "/chains/base", "/plan", "/docs/statuses", "/chains/nowhere"]) {
      const page = await fetch(server.url + path, { headers: BROWSER });

      const policy = page.headers.get("content-security-policy");
      const tags = [...(await page.text()).matchAll(/<(?:script|style|link rel="stylesheet")[ >][^>]*/g)];
      expect(policy).toContain("default-src 'none'; style-src 'self'; script-src 'self';");
      expect(policy).not.toContain("unsafe");
      expect(tags.length).toBeGreaterThan(0);
      expect(tags.filter(([tag]) => !/ (src|href)="\/assets\//.test(tag))).toEqual([]);
    }
  });

  it("and the API are sent again only after a new report, compressed if the client accepts it", async () => {
    let report = fullReport();
    source.report = () => report;
    for (const path of ["/", "/chains/base", "/plan", "/api/v1/status", "/api/v1/history/lockup/base"]) {
      const first = await fetch(server.url + path);
      const etag = first.headers.get("etag") ?? "";
      const again = await fetch(server.url + path, { headers: { "if-none-match": etag } });
      report = { ...report, generated_at: new Date(Date.parse(report.generated_at) + 1).toISOString() };
      const later = await fetch(server.url + path, { headers: { "if-none-match": etag } });
      const plain = await ask(server.url, [`GET ${path} HTTP/1.1`]);

      expect([first.status, first.headers.get("content-encoding")]).toEqual([200, "gzip"]);
      expect([again.status, await again.text()]).toEqual([304, ""]);
      expect([later.status, plain.includes("content-encoding")]).toEqual([200, false]);
      expect(await later.text()).not.toBe("");
    }
  });

  it("are what a browser gets for an error, too", async () => {
    const answers = await Promise.all(
      ["/nowhere", "/chains/bas", "/docs/runbooks/Nothing", "/api/v1/status/lockup/bas"].map((path) =>
        fetch(server.url + path, { headers: BROWSER }),
      ),
    );

    expect(answers.map(({ headers }) => headers.get("content-type"))).toEqual([HTML, HTML, HTML, HTML]);
    expect(answers.map(({ status }) => status)).toEqual([404, 404, 404, 404]);
    expect(await answers[0]?.text()).toContain("Path /nowhere not found");
  });

  it("name assets that are there, for browsers to keep", async () => {
    const page = await (await fetch(`${server.url}/chains/base`)).text();

    const paths = [...page.matchAll(/(?:src|href)="(\/assets\/[^"]+)"/g)].map(([, path]) => path ?? "");
    const answers = await Promise.all(paths.map((path) => fetch(server.url + path)));

    expect(
      answers.map(({ status, headers }) => [
        status,
        headers.get("content-type"),
        headers.get("cache-control"),
      ]),
    ).toEqual(
      ["javascript", "css", "css", "javascript", "javascript", "javascript"].map((type) => [
        200,
        `text/${type}; charset=utf-8`,
        "public, max-age=31536000, immutable",
      ]),
    );
  });

  it("list what there is to read, and the routes of the API", async () => {
    const [index = "", api = ""] = await Promise.all(
      ["/docs/", "/docs/api"].map(async (path) => await (await fetch(server.url + path)).text()),
    );
    const links = [...index.matchAll(/<li>.*?href="(\/docs\/[^"]+)"/g)].map(([, path]) => path ?? "");
    const answers = await Promise.all(links.map((path) => fetch(server.url + path)));
    const { body } = await json(`${server.url}/openapi.json`);

    expect(links).toContain("/docs/runbooks/SynclagKeyRejected");
    expect(links.length).toBeGreaterThan(20);
    expect(answers.filter(({ status }) => status !== 200)).toEqual([]);
    expect(index).toContain("A provider answers that our key is missing, invalid or unpaid");
    expect(Object.keys(body["paths"] ?? {}).filter((path) => !api.includes(` ${path}</code></h2>`))).toEqual(
      [],
    );
  });

  it("show the runbook of an alert's link, and no other file", async () => {
    const runbook = await fetch(`${server.url}/docs/runbooks/SynclagKeyRejected.md`);
    const others = await Promise.all(
      ["..%2Fstatuses", "..%2Fstatuses.md", ".md", "SynclagWatchdog.md.md", "a".repeat(80)].map((name) =>
        fetch(`${server.url}/docs/runbooks/${name}`),
      ),
    );

    const body = await runbook.text();
    expect(body).toContain('<h1 id="synclagkeyrejected">SynclagKeyRejected</h1>');
    expect(body).toMatch(/<ol>\s*<li>/);
    expect(others.map(({ status }) => status)).toEqual([404, 404, 404, 404, 404]);
  });
});

describe("what a handler throws", () => {
  it("is a bug of ours, reported with its route, answered with 500, and keeps its text inside", async () => {
    const bug = new TypeError("secret text");
    source.report = () => {
      throw bug;
    };
    source.metrics = () => Promise.reject(bug);

    const answers = [];
    for (const path of ["/", "/chains/base?x=1", "/api/v1/status", "/metrics"]) {
      answers.push(await json(server.url + path));
    }

    expect(answers.map(({ status, contentType }) => [status, contentType])).toEqual(
      Array(4).fill([500, PROBLEM_TYPE]),
    );
    expect(JSON.stringify(answers)).not.toContain("secret");
    expect(bugs).toEqual(["/", "/chains/:chain", "/api/v1/status", "/metrics"].map((route) => [bug, route]));
    expect((await fetch(`${server.url}/-/healthy`)).status).toBe(200);
  });

  it("is a 503, not a bug, for an error of the system", async () => {
    source.metrics = () => readFile("x".repeat(5_000)).then(() => METRICS);

    const { status, contentType } = await json(`${server.url}/metrics`);

    expect([status, contentType]).toEqual([503, PROBLEM_TYPE]);
    expect(bugs).toEqual([]);
  });
});

/** What is made of the report may be kept, and is asked for again each time. */
function cachingOf(path: string): string {
  return /^\/(|\?.*|chains.*|plan|api\/v1\/(status|history).*)$/.test(path)
    ? "private, no-cache"
    : "no-store";
}
