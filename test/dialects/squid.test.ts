import { describe, expect, it } from "vitest";
import { squid } from "../../src/dialects/squid.ts";
import { readFixture } from "./read-fixture.ts";

const HASH = "0xf8ccbd3877eb98c958614f395dd351211afb9abba187bfc1fb4ac414b099c4a6";

function head(hash: string | null) {
  const nothingElse = { timestampSec: null, deployment: null, indexingErrors: null };
  return { kind: "head", head: { block: 23368264, hash, ...nothingElse } };
}

describe("squid", () => {
  it.each([
    { file: "squid/status.json", content: head(HASH) },
    { file: "squid/status-height-only.json", content: head(null) },
    { file: "squid/status-not-started.json", content: { kind: "not_started" } },
    {
      file: "squid/status-broken.json",
      content: {
        kind: "failed",
        reason: "schema",
        detail: 'Cannot read squidStatus.height as a height: "latest"',
      },
    },
  ])("reads $file with every question", ({ file, content }) => {
    const { data } = JSON.parse(readFixture(file));

    const readings = squid.questions.map((question) => question.read(data));

    const reading = { kind: "rows", rows: [{ chainId: null, content }] };
    expect(readings).toEqual([reading, reading]);
  });

  it("takes a status of null for not started", () => {
    expect(squid.questions[0]?.read({ squidStatus: null })).toMatchObject({
      rows: [{ content: { kind: "not_started" } }],
    });
  });

  it("says where other data differs", () => {
    expect(squid.questions[0]?.read({ squidStatus: [7] })).toMatchObject({
      kind: "failed",
      detail: expect.stringMatching(/^Cannot read data\.squidStatus: .*received array$/),
    });
  });
});
