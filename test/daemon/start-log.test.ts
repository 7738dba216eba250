import { describe, expect, it } from "vitest";
import type { WebSettings } from "../../src/config/web/web-settings.ts";
import { serverWarnings } from "../../src/daemon/start-log.ts";

const OPEN: WebSettings = {
  file: "web.yml",
  tls: null,
  users: new Map(),
  headers: {},
  asksForHttp2: false,
  rateLimit: null,
};
const LOOPBACK = { host: "127.0.0.1", port: 9855 };

describe("serverWarnings()", () => {
  it.each(["127.0.0.1", "127.8.8.8", "::1", "localhost"])("is silent about %s", (host) => {
    expect(serverWarnings({ host, port: 9855 }, null)).toEqual([]);
  });

  it.each(["0.0.0.0", "::", "10.0.0.7", "monitor.internal", "127.example.org"])("warns about %s", (host) => {
    const warning = expect.stringContaining(`${host}:9855 without authentication`);

    expect(serverWarnings({ host, port: 9855 }, null)).toEqual([warning]);
    expect(serverWarnings({ host, port: 9855 }, OPEN)).toEqual([warning]);
  });

  it("is silent where passwords are required", () => {
    const web = { ...OPEN, users: new Map([["alice", "$2y$10$x"]]) };

    expect(serverWarnings({ host: "0.0.0.0", port: 9855 }, web)).toEqual([]);
  });

  it("says that http2 is not served where the file asks for it", () => {
    expect(serverWarnings(LOOPBACK, { ...OPEN, asksForHttp2: true })).toEqual([
      "http2 is not supported: serving HTTP/1.1",
    ]);
  });
});
