import { describe, expect, it } from "vitest";
import { readDocuments } from "../../../../src/io/http-server/routes/documents.ts";
import { json, PROBLEM_TYPE, serve } from "../../../support/served.ts";

const { runbook } = readDocuments();

describe("readDocuments()", () => {
  it.each(["SynclagIndexerStalled", "SynclagIndexerStalled.md"])("finds %s", (file) => {
    expect(runbook(file)).toMatch(/^# SynclagIndexerStalled\n/);
  });

  it.each(["SynclagNothing", "../statuses", "..%2Fstatuses", "", ".md", "Watchdog.md.md", "a".repeat(80)])(
    "finds nothing for %j",
    (file) => {
      expect(runbook(file)).toBeNull();
    },
  );
});

describe("the page of a runbook", () => {
  it("is what an alert links to", async () => {
    await using server = await serve();

    const answer = await fetch(`${server.url}/docs/runbooks/SynclagKeyRejected.md`);
    const body = await answer.text();

    expect(answer.status).toBe(200);
    expect(body).toContain('<h1 id="synclagkeyrejected">SynclagKeyRejected</h1>');
    expect(body).toMatch(/<ol>\s*<li>/);
  });

  it("is not there for an alert that is not", async () => {
    await using server = await serve();

    const answer = await json(`${server.url}/docs/runbooks/Nothing`);

    expect(answer).toMatchObject({ status: 404, contentType: PROBLEM_TYPE });
  });
});
