import { execFileSync } from "node:child_process";
import { describe, expect, it } from "vitest";
import { curlCommand } from "../../src/daemon/endpoint-records.ts";

const KEY = "0123456789abcdef0123456789abcdef";
const SECRETS = [`Bearer ${KEY}`, KEY];
const BODY = '{"query":"{ _meta { block { number } } }"}';

describe("curlCommand()", () => {
  it("repeats the poll without its key", () => {
    const endpoint = { url: "https://gateway.example/api/id", headers: { Authorization: `Bearer ${KEY}` } };

    expect(curlCommand(endpoint, BODY, SECRETS)).toBe(
      "curl -sS 'https://gateway.example/api/id' -H 'Authorization: [secret]' " +
        `-H 'Content-Type: application/json' -d '${BODY}'`,
    );
  });

  it("shows no request body for a GET", () => {
    const endpoint = { url: "https://ponder.example/status", headers: { Authorization: `Bearer ${KEY}` } };

    expect(curlCommand(endpoint, "GET", SECRETS)).toBe(
      "curl -sS 'https://ponder.example/status' -H 'Authorization: [secret]'",
    );
  });

  it("shows no key that is written in the file itself", () => {
    const endpoint = { url: `https://rpc.example/${KEY}`, headers: { "X-Key": "a literal" } };

    const command = curlCommand(endpoint, BODY, ["a literal", KEY]);

    expect(command).not.toContain(KEY);
    expect(command).not.toContain("a literal");
  });

  it.each([
    { case: "a quote", url: "https://a.example/it's" },
    { case: "what a shell would run", url: "https://a.example/$(id)`id`" },
  ])("gives curl exactly what the poll sends when there is $case", ({ url }) => {
    const command = curlCommand({ url, headers: {} }, 'it\'s "$HOME"', []);

    expect(argumentsOf(command)).toEqual([
      "-sS",
      url,
      "-H",
      "Content-Type: application/json",
      "-d",
      'it\'s "$HOME"',
    ]);
  });
});

/** What a shell hands to curl. */
function argumentsOf(command: string): readonly string[] {
  const script = `curl() { for one in "$@"; do printf '%s\\0' "$one"; done; }; ${command}`;
  const output = execFileSync("/bin/sh", ["-c", script], { encoding: "utf8" });
  return output.split("\0").slice(0, -1);
}
