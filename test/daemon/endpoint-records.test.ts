import { execFileSync } from "node:child_process";
import { describe, expect, it } from "vitest";
import { curlCommand } from "../../src/daemon/endpoint-records.ts";

const KEY = "0123456789abcdef0123456789abcdef";
const NOTHING = { secrets: [], variables: [] };
const FROM_ENV = { secrets: [`Bearer ${KEY}`, KEY], variables: [{ text: KEY, shown: "$THEGRAPH_API_KEY" }] };
const BODY = '{"query":"{ _meta { block { number } } }"}';

describe("curlCommand()", () => {
  it("repeats the poll with the key as the variable that it comes from", () => {
    const endpoint = { url: "https://gateway.example/api/id", headers: { Authorization: `Bearer ${KEY}` } };

    expect(curlCommand(endpoint, BODY, FROM_ENV)).toBe(
      "curl -sS 'https://gateway.example/api/id' -H \"Authorization: Bearer $THEGRAPH_API_KEY\" " +
        `-H 'Content-Type: application/json' -d '${BODY}'`,
    );
  });

  it("shows no request body for a GET", () => {
    const endpoint = { url: "https://ponder.example/status", headers: { Authorization: `Bearer ${KEY}` } };

    expect(curlCommand(endpoint, "GET", FROM_ENV)).toBe(
      "curl -sS 'https://ponder.example/status' -H \"Authorization: Bearer $THEGRAPH_API_KEY\"",
    );
  });

  it("shows no key that is written in the file itself", () => {
    const endpoint = { url: `https://rpc.example/${KEY}`, headers: { "X-Key": "a literal" } };

    const command = curlCommand(endpoint, BODY, { secrets: ["a literal", KEY], variables: [] });

    expect(command).not.toContain(KEY);
    expect(command).not.toContain("a literal");
  });

  it.each([
    { case: "a quote", url: "https://a.example/it's", config: NOTHING },
    { case: "what a shell would run", url: "https://a.example/$(id)`id`", config: NOTHING },
    { case: "that beside a variable", url: `https://a.example/$(id)\`id\`"\\/${KEY}`, config: FROM_ENV },
    {
      case: "a variable twice, and one inside another",
      url: `https://a.example/${KEY}/${KEY}/0123`,
      config: { secrets: [], variables: [...FROM_ENV.variables, { text: "0123", shown: "$SHORT" }] },
    },
    {
      case: "a file",
      url: "https://a.example/from a file",
      config: { secrets: [], variables: [{ text: "from a file", shown: "$(printf 'from a file')" }] },
    },
  ])("gives curl exactly what the poll sends with $case", ({ url, config }) => {
    const command = curlCommand({ url, headers: {} }, 'it\'s "$HOME"', config);

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
  const env = { THEGRAPH_API_KEY: KEY, SHORT: "0123" };
  const output = execFileSync("/bin/sh", ["-c", script], { encoding: "utf8", env });
  return output.split("\0").slice(0, -1);
}
