import { expect, it } from "vitest";
import type { WebSettings } from "../../src/config/config.ts";
import { serverWarnings } from "../../src/daemon/start-log.ts";

const OPEN: WebSettings = {
  file: "web.yml",
  tls: null,
  users: new Map(),
  headers: {},
};

it("warns at the start of an address that others can reach without authentication", () => {
  const hosts = [
    "127.0.0.1",
    "127.8.8.8",
    "::1",
    "localhost",
    "0.0.0.0",
    "::",
    "10.0.0.7",
    "127.example.org",
  ];
  const exposed = hosts.filter((host) => serverWarnings({ host, port: 9855 }, null).length > 0);
  const withPasswords = { ...OPEN, users: new Map([["alice", "$2y$10$x"]]) };
  const anyone = { host: "0.0.0.0", port: 9855 };

  expect(exposed).toEqual(["0.0.0.0", "::", "10.0.0.7", "127.example.org"]);
  expect(serverWarnings(anyone, OPEN)).toEqual([
    expect.stringContaining("Listening on 0.0.0.0:9855 without authentication"),
  ]);
  expect(serverWarnings(anyone, withPasswords)).toEqual([]);
});
