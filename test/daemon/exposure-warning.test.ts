import { describe, expect, it } from "vitest";
import type { WebSettings } from "../../src/config/web/web-settings.ts";
import { exposureWarning } from "../../src/daemon/exposure-warning.ts";

const OPEN: WebSettings = {
  file: "web.yml",
  tls: null,
  users: new Map(),
  headers: {},
  isHttp2: true,
  rateLimit: null,
};

describe("exposureWarning()", () => {
  it.each(["127.0.0.1", "127.8.8.8", "::1", "localhost"])("has nothing to say about %s", (host) => {
    expect(exposureWarning({ host, port: 9855 }, null)).toBeNull();
  });

  it.each(["0.0.0.0", "::", "10.0.0.7", "monitor.internal", "127.example.org"])("warns about %s", (host) => {
    expect(exposureWarning({ host, port: 9855 }, null)).toContain(`${host}:9855 without authentication`);
    expect(exposureWarning({ host, port: 9855 }, OPEN)).not.toBeNull();
  });

  it("is content with passwords", () => {
    const web = { ...OPEN, users: new Map([["alice", "$2y$10$x"]]) };

    expect(exposureWarning({ host: "0.0.0.0", port: 9855 }, web)).toBeNull();
  });
});
