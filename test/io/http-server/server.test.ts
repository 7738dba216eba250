import { readFile } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import { ask, json, METRICS, PROBLEM_TYPE, serve } from "../../support/served.ts";
import {
  sampleChain,
  sampleChainReport,
  sampleReport,
  sampleTargetReport,
} from "../../views/sample-report.ts";

const HOUR_MS = 3_600_000;

describe("startHttpServer()", () => {
  it.each([
    { path: "/metrics", contentType: METRICS.contentType },
    { path: "/", contentType: "text/html; charset=utf-8" },
    { path: "/?q=lockup+base", contentType: "text/html; charset=utf-8" },
    { path: "/chains/base", contentType: "text/html; charset=utf-8" },
    { path: "/plan", contentType: "text/html; charset=utf-8" },
    { path: "/docs/statuses", contentType: "text/html; charset=utf-8" },
    { path: "/api/v1/status", contentType: "application/json; charset=utf-8" },
    { path: "/api/v1/status/lockup/base", contentType: "application/json; charset=utf-8" },
    { path: "/api/v1/health/lockup/base", contentType: "application/json; charset=utf-8" },
    { path: "/api/v1/history/lockup/base", contentType: "application/json; charset=utf-8" },
    { path: "/openapi.json", contentType: "application/json; charset=utf-8" },
    { path: "/-/healthy", contentType: "text/plain; charset=utf-8" },
    { path: "/-/ready", contentType: "text/plain; charset=utf-8" },
  ])("serves $path fresh, as $contentType, to GET and HEAD", async ({ path, contentType }) => {
    await using server = await serve();

    const get = await fetch(server.url + path);
    const head = await fetch(server.url + path, { method: "HEAD" });

    const body = await get.text();
    expect(get.status).toBe(200);
    expect(body).not.toBe("");
    for (const { status, headers } of [get, head]) {
      expect(status).toBe(200);
      expect(headers.get("content-type")).toBe(contentType);
      expect(headers.get("cache-control")).toBe("no-store");
      expect(headers.get("x-content-type-options")).toBe("nosniff");
    }
    expect(await head.text()).toBe("");
  });

  it("takes a slash at the end for none", async () => {
    await using server = await serve();

    const paths = ["/metrics/", "/api/v1/status/", "/api/v1/status/lockup/base/", "/-/healthy/"];
    const answers = await Promise.all(paths.map((path) => fetch(server.url + path)));

    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
  });

  it("hands over the metrics as they are", async () => {
    await using server = await serve();

    expect(await (await fetch(`${server.url}/metrics`)).text()).toBe(METRICS.body);
  });

  it("tells the whole status, or that of one protocol and chain", async () => {
    await using server = await serve();

    const whole = await json(`${server.url}/api/v1/status`);
    const part = await json(`${server.url}/api/v1/status/lockup/base`);

    expect(whole.body).toMatchObject({ targets: [{ variant: "multichain" }, { variant: "subgraph" }] });
    expect(part.body).toMatchObject({ targets: [{ chain: "base" }, { chain: "base" }] });
  });

  it.each([
    { path: "/api/v1/status/lokup/base", names: "lockup" },
    { path: "/api/v1/status/lockup/bas", names: "base" },
    { path: "/api/v1/health/lockup/bas", names: "base" },
    { path: "/api/v1/health/lockup/base?variant=graph", names: "subgraph" },
    { path: "/chains/bas", names: "bas" },
    { path: "/nowhere", names: "/nowhere" },
    { path: "/metrics/more", names: "/metrics/more" },
    { path: "/api/v1/status/lockup", names: "/api/v1/status/lockup" },
    { path: "//metrics", names: "//metrics" },
    { path: "/METRICS", names: "/METRICS" },
  ])("answers 404 to $path, with a problem that names $names", async ({ path, names }) => {
    await using server = await serve();

    const { status, contentType, body } = await json(server.url + path);

    expect(status).toBe(404);
    expect(contentType).toBe(PROBLEM_TYPE);
    expect(body).toMatchObject({ type: "about:blank", title: "Not Found", status: 404 });
    expect(body["detail"]).toContain(names);
  });

  it.each(
    ["/metrics", "/", "/chains/base", "/api/v1/status", "/api/v1/status/lockup/base", "/-/healthy"].flatMap(
      (path) =>
        ["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "PROPFIND", "PURGE", "QUERY"].map((method) => ({
          path,
          method,
        })),
    ),
  )("answers 405 with Allow to $method $path, whatever comes along", async ({ path, method }) => {
    await using server = await serve();

    const answer = await ask(
      server.url,
      [`${method} ${path} HTTP/1.1`, "content-type: text/xml", "content-length: 3"],
      "<x>",
    );

    expect(answer).toMatch(/^HTTP\/1\.1 405 /);
    expect(answer).toMatch(/\r\nallow: GET, HEAD\r\n/);
    expect(answer).toMatch(/\r\ncontent-type: application\/problem\+json; charset=utf-8\r\n/);
  });

  it.each(["GET", "HEAD", "DELETE"])("answers 405 to %s of the reload", async (method) => {
    await using server = await serve();

    const answer = await fetch(`${server.url}/-/reload`, { method });

    expect([answer.status, answer.headers.get("allow")]).toEqual([405, "POST"]);
  });
});

describe("/openapi.json", () => {
  it("describes only what is served, and names the version", async () => {
    await using server = await serve({ reload: () => Promise.resolve({ kind: "reloaded", detail: "" }) });
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
  it.each([
    { path: "/-/healthy", verdict: "healthy" },
    { path: "/-/ready", verdict: "ready" },
  ] as const)("$path says why not, with 503", async ({ path, verdict }) => {
    await using server = await serve({ [verdict]: () => ({ ok: false, detail: "Stuck for 20 s" }) });

    const { status, contentType, body } = await json(server.url + path);

    expect([status, contentType]).toEqual([503, PROBLEM_TYPE]);
    expect(body["detail"]).toBe("Stuck for 20 s");
  });
});

describe("/-/reload", () => {
  it("is refused where it is not enabled, with what to do instead", async () => {
    await using server = await serve();

    const { status, body } = await json(`${server.url}/-/reload`, { method: "POST" });

    expect(status).toBe(403);
    expect(body["detail"]).toContain("SIGHUP");
  });

  it.each([
    { how: "without a body", init: {} },
    {
      how: "with an empty form, as curl -d '' sends",
      init: { headers: { "content-type": "application/x-www-form-urlencoded" }, body: "" },
    },
    {
      how: "with a body that nobody reads",
      init: { headers: { "content-type": "application/json" }, body: "{" },
    },
  ])("reloads, $how", async ({ init }) => {
    await using server = await serve({
      reload: () => Promise.resolve({ kind: "reloaded", detail: "Reloaded x" }),
    });

    const answer = await fetch(`${server.url}/-/reload`, { method: "POST", ...init });

    expect([answer.status, await answer.text()]).toEqual([200, "Reloaded x\n"]);
  });

  it.each([
    { from: "another site", headers: { "sec-fetch-site": "cross-site" }, status: 403 },
    { from: "another port of this host", headers: { "sec-fetch-site": "same-site" }, status: 403 },
    { from: "an old browser on another site", headers: { origin: "https://evil.example" }, status: 403 },
    { from: "a page without an origin", headers: { origin: "null" }, status: 403 },
    { from: "our own page", headers: { "sec-fetch-site": "same-origin" }, status: 200 },
    { from: "our own page in an old browser", headers: { host: "a:1", origin: "http://a:1" }, status: 200 },
    { from: "a program", headers: {}, status: 200 },
  ])("answers $status to a request from $from", async ({ headers, status }) => {
    let reloads = 0;
    await using server = await serve({
      reload: () => {
        reloads += 1;
        return Promise.resolve({ kind: "reloaded", detail: "" });
      },
    });
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);

    const answer = await ask(server.url, ["POST /-/reload HTTP/1.1", "content-length: 0", ...lines]);

    expect(answer).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
    expect(reloads).toBe(status === 200 ? 1 : 0);
  });

  it("says why a file was refused, with 422", async () => {
    await using server = await serve({
      reload: () => Promise.resolve({ kind: "failed", detail: "x:1:2: wrong" }),
    });

    const { status, contentType, body } = await json(`${server.url}/-/reload`, { method: "POST" });

    expect([status, contentType, body["detail"]]).toEqual([422, PROBLEM_TYPE, "x:1:2: wrong"]);
  });

  it("takes no more than a small body", async () => {
    let reloads = 0;
    await using server = await serve({
      reload: () => {
        reloads += 1;
        return Promise.resolve({ kind: "reloaded", detail: "" });
      },
    });

    const answer = await fetch(`${server.url}/-/reload`, { method: "POST", body: "x".repeat(5_000) });

    expect([answer.status, reloads]).toEqual([413, 0]);
  });
});

describe("/api/v1/health/{protocol}/{chain}", () => {
  it.each([
    { query: "", status: 200 },
    { query: "?variant=&max_lag=600", status: 200 },
    { query: "?max_lag=4", status: 200 },
    { query: "?max_lag=3.999", status: 503 },
    { query: "?variant=multichain", status: 200 },
    { query: "?variant=subgraph", status: 503 },
    { query: "?variant=&tier=production", status: 200 },
    { query: "?variant=subgraph&tier=production", status: 503 },
  ])("answers $status to '$query'", async ({ query, status }) => {
    await using server = await serve();

    const answer = await json(`${server.url}/api/v1/health/lockup/base${query}`);

    expect(answer.status).toBe(status);
    expect(answer.body).toMatchObject({ healthy: status === 200, freshest: { variant: "multichain" } });
  });

  it.each([
    { query: "", laggingMs: HOUR_MS, maxLagSeconds: 3_600, status: 200 },
    { query: "?max_lag=600", laggingMs: HOUR_MS, maxLagSeconds: 600, status: 503 },
    { query: "", laggingMs: HOUR_MS / 6, maxLagSeconds: 600, status: 503 },
    { query: "?max_lag=3600", laggingMs: HOUR_MS / 6, maxLagSeconds: 3_600, status: 200 },
  ])("allows the lag of the chain's own threshold unless asked otherwise: '$query'", async (asked) => {
    const thresholds = { ...sampleChain().thresholds, laggingMs: asked.laggingMs };
    const targets = [sampleTargetReport({ lagMs: HOUR_MS / 2 })];
    const chain = sampleChainReport({ chain: sampleChain({ thresholds }), targets });
    await using server = await serve({ report: () => sampleReport({ chains: [chain] }) });

    const { status, body } = await json(`${server.url}/api/v1/health/lockup/base${asked.query}`);

    expect([status, body["max_lag_seconds"]]).toEqual([asked.status, asked.maxLagSeconds]);
  });

  it.each([
    "",
    "x",
    "-1",
    "1e3",
    "0x10",
    "10m",
    " 5",
    "1.2345",
    "NaN",
    "Infinity",
    "1&max_lag=2",
    "99999999999",
  ])("answers 400 to max_lag=%s", async (maxLag) => {
    await using server = await serve();

    const { status, contentType, body } = await json(
      `${server.url}/api/v1/health/lockup/base?max_lag=${maxLag}`,
    );

    expect([status, contentType]).toEqual([400, PROBLEM_TYPE]);
    expect(body["detail"]).toContain("expected seconds");
  });

  it.each(["variant=a&variant=b", "tier=a&tier=b"])("answers 400 to %s", async (query) => {
    await using server = await serve();

    const answer = await json(`${server.url}/api/v1/health/lockup/base?${query}`);

    expect(answer.status).toBe(400);
  });

  it("answers 404 to a tier that is not there, and names those that are", async () => {
    await using server = await serve();

    const { status, body } = await json(`${server.url}/api/v1/health/lockup/base?tier=staging`);

    expect(status).toBe(404);
    expect(body["detail"]).toBe("Cannot find tier 'staging' of lockup/base: available are production");
  });
});

describe("the pages", () => {
  it.each(["/", "/chains/base", "/plan", "/docs/statuses"])(
    "%s runs and loads nothing but its own, by a nonce of its own each time",
    async (path) => {
      await using server = await serve();

      const first = await fetch(server.url + path);
      const second = await fetch(server.url + path);

      const policy = first.headers.get("content-security-policy") ?? "";
      const nonce = /script-src 'nonce-([^']+)'/.exec(policy)?.[1] ?? "";
      const body = await first.text();
      expect(policy).toContain("default-src 'none'");
      expect(policy).not.toContain("unsafe");
      expect(Buffer.from(nonce, "base64")).toHaveLength(16);
      const tags = [...body.matchAll(/<(?:script|style|link rel="stylesheet")[ >][^>]*/g)].map(
        ([tag]) => tag,
      );
      expect(tags.length).toBeGreaterThan(0);
      expect(tags.filter((tag) => !tag.includes(`nonce="${nonce}"`))).toEqual([]);
      expect(second.headers.get("content-security-policy")).not.toBe(policy);
    },
  );

  it("show what was searched for as text", async () => {
    await using server = await serve();

    const body = await (await fetch(`${server.url}/?q=${encodeURIComponent('"><script>x</script>')}`)).text();

    expect(body).not.toContain("<script>x");
    expect(body).toContain("&lt;script&gt;x");
  });
});

describe("a bug of ours", () => {
  it.each([
    { path: "/", route: "/" },
    { path: "/chains/base?x=1", route: "/chains/:chain" },
    { path: "/api/v1/status", route: "/api/v1/status" },
    { path: "/metrics", route: "/metrics" },
  ])("is reported with its route, answered with 500, and keeps its text inside: $path", async (asked) => {
    const errors: unknown[] = [];
    const bug = new TypeError("secret text");
    const source = {
      report: () => {
        throw bug;
      },
      metrics: () => Promise.reject(bug),
    };
    await using server = await serve(source, { onError: (error, route) => errors.push([error, route]) });

    const { status, contentType, body } = await json(server.url + asked.path);

    expect([status, contentType]).toEqual([500, PROBLEM_TYPE]);
    expect(JSON.stringify(body)).not.toContain("secret");
    expect(errors).toEqual([[bug, asked.route]]);
    expect((await fetch(`${server.url}/-/healthy`)).status).toBe(200);
  });
});

describe("an error of the system", () => {
  it("is answered with 503, and is no bug", async () => {
    const bugs: unknown[] = [];
    const source = { metrics: () => readFile("x".repeat(5_000)).then(() => METRICS) };
    await using server = await serve(source, { onError: (error) => bugs.push(error) });

    const { status, contentType } = await json(`${server.url}/metrics`);

    expect([status, contentType]).toEqual([503, PROBLEM_TYPE]);
    expect(bugs).toEqual([]);
  });
});
