import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { get, type IncomingMessage } from "node:http";
import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
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
/** Far more than what a socket takes at once. */
const LARGE = "synclag_up 1\n".repeat(1_000_000);

// test/fixtures/http tests the replies to single requests.

describe("/openapi.json", () => {
  it("describes only existing routes, with the types of their replies, and names the version", async () => {
    await using server = await serve({ reload: () => Promise.resolve({ ok: true, detail: "" }) });
    const { body } = await json(`${server.url}/openapi.json`);
    // The document is ours: each path holds its methods, beside parameters that all of them share.
    type Described = Readonly<Record<"responses", Readonly<Record<string, { readonly content: object }>>>>;
    const paths = body["paths"] as Readonly<Record<string, Readonly<Record<string, Described>>>>;

    const answers = Object.entries(paths).flatMap(([path, item]) =>
      Object.entries(item)
        .filter(([key]) => key !== "parameters")
        .map(async ([method, { responses }]) => {
          const url = server.url + path.replace("{protocol}", "lockup").replace("{chain}", "base");
          const { headers, status } = await fetch(url, { method: method.toUpperCase() });
          const [type] = Object.keys(responses["200"]?.content ?? {});
          return { path, status, isOfType: headers.get("content-type")?.startsWith(`${type}; `) };
        }),
    );

    expect(answers.length).toBeGreaterThan(5);
    const wrong = (await Promise.all(answers)).filter((one) => one.status !== 200 || one.isOfType !== true);
    expect(wrong).toEqual([]);
    expect(body["info"]).toMatchObject({ version: "9.9.9" });
  });
});

describe("/api/v1/health/{protocol}", () => {
  it("uses the threshold of each chain unless the request has a lag, and names the chains that are not healthy", async () => {
    const thresholds = { ...sampleChain().thresholds, lagging: { ms: 30_000, blocks: null } };
    const onGnosis = sampleTarget({ chain: "gnosis", chainId: 100 });
    const chains = [
      sampleChainReport({ targets: [sampleTargetReport({ lag_seconds: 60 })] }),
      sampleChainReport({
        chain: sampleChain({ slug: "gnosis", id: 100, thresholds }),
        targets: [sampleTargetReport({ target: onGnosis, lag_seconds: 60 })],
      }),
    ];
    await using server = await serve({ report: () => sampleReport({ chains }) });

    const usual = await json(`${server.url}/api/v1/health/lockup`);
    const patient = await json(`${server.url}/api/v1/health/lockup?max_lag=100`);

    expect([usual.status, usual.body["why"]]).toEqual([503, "not healthy on 1 of 2 chains: gnosis"]);
    expect([patient.status, patient.body["why"]]).toEqual([200, "healthy on 2 chains"]);
  });
});

describe("/api/v1/history/{protocol}/{chain}", () => {
  it("passes the parameters to the source", async () => {
    const asked: unknown[] = [];
    await using server = await serve({
      past: (...args) => {
        asked.push(args);
        return { timesMs: [1_000], reference: [7], targets: {} };
      },
    });

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
});

describe("the pages", () => {
  it("and the API are sent again only after a new report, compressed if the client accepts it", async () => {
    let report = fullReport();
    await using server = await serve({ report: () => report });
    for (const path of ["/", "/chains/base", "/plan", "/api/v1/status", "/api/v1/history/lockup/base"]) {
      const first = await fetch(server.url + path);
      const etag = first.headers.get("etag") ?? "";
      const again = await fetch(server.url + path, { headers: { "if-none-match": etag } });
      const known = [`"other", ${etag}`, etag.slice(2), "*"].map(async (one) => {
        const { headers, status } = await fetch(server.url + path, { headers: { "if-none-match": one } });
        return [status, headers.get("vary")];
      });
      const alike = await Promise.all(known);
      report = { ...report, generated_at: new Date(Date.parse(report.generated_at) + 1).toISOString() };
      const later = await fetch(server.url + path, { headers: { "if-none-match": etag } });
      const plain = await ask(server.url, [`GET ${path} HTTP/1.1`]);

      expect([first.status, first.headers.get("content-encoding")]).toEqual([200, "gzip"]);
      expect([again.status, await again.text()]).toEqual([304, ""]);
      expect(alike).toEqual(Array.from({ length: 3 }, () => [304, "accept-encoding"]));
      expect([later.status, plain.includes("content-encoding")]).toEqual([200, false]);
      expect(await later.text()).not.toBe("");
    }
  });

  it("list the documents and the routes of the API", async () => {
    await using server = await serve();
    const [index = "", api = ""] = await Promise.all(
      ["/docs/", "/docs/api"].map(async (path) => await (await fetch(server.url + path)).text()),
    );
    const links = [...index.matchAll(/<li>.*?href="(\/docs\/[^"]+)"/g)].map(([, path]) => path ?? "");
    const answers = await Promise.all(links.map((path) => fetch(server.url + path)));
    const { body } = await json(`${server.url}/openapi.json`);

    expect(links).toContain("/docs/runbooks/SynclagKeyRejected");
    expect(links.length).toBeGreaterThan(20);
    expect(answers.filter(({ status }) => status !== 200)).toEqual([]);
    expect(index).toContain("A provider rejects our requests to an indexer");
    expect(Object.keys(body["paths"] ?? {}).filter((path) => !api.includes(` ${path}</code></h2>`))).toEqual(
      [],
    );
  });
});

describe("what a handler throws", () => {
  it("is logged with its route as a bug, and answered with a 500 without its text", async () => {
    const bug = new TypeError("secret text");
    const bugs: unknown[] = [];
    const report = () => {
      throw bug;
    };
    await using server = await serve(
      { report, metrics: () => Promise.reject(bug) },
      { onError: (error, route) => bugs.push([error, route]) },
    );

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
    const bugs: unknown[] = [];
    const metrics = () => readFile("x".repeat(5_000)).then(() => METRICS);
    await using server = await serve({ metrics }, { onError: (error) => bugs.push(error) });

    const { status, contentType } = await json(`${server.url}/metrics`);

    expect([status, contentType]).toEqual([503, PROBLEM_TYPE]);
    expect(bugs).toEqual([]);
  });
});

describe("/metrics", () => {
  it("sends a large text whole, compressed or not, also after a client has disconnected in the middle", async () => {
    const large = { contentType: METRICS.contentType, gzipped: gzipSync(LARGE) };
    await using server = await serve({ metrics: () => Promise.resolve(large) });
    const [response] = (await once(get(`${server.url}/metrics`), "response")) as [IncomingMessage];
    await once(response, "data");

    response.destroy();

    for (const coding of ["gzip", "identity"]) {
      const answer = await fetch(`${server.url}/metrics`, { headers: { "accept-encoding": coding } });
      expect(answer.headers.get("content-encoding") ?? "identity").toBe(coding);
      expect((await answer.text()) === LARGE).toBe(true);
    }
  });
});
