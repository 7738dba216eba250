import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { STATUSES } from "../../../src/core/model/report.ts";
import { renderDocumentPage } from "../../../src/views/page/document.ts";
import { statusPath } from "../../../src/views/page/links.ts";

const DOCUMENT = readFileSync(new URL("../../../docs/statuses.md", import.meta.url), "utf8");
const PAGE = renderDocumentPage(DOCUMENT, { nonce: "n0nce", version: "1.2.3" });

describe("renderDocumentPage()", () => {
  it.each(STATUSES)("has the paragraph that the status %s links to", (status) => {
    const anchor = statusPath(status).split("#")[1];

    expect(PAGE).toContain(`<h2 id="${anchor}">`);
  });

  it("runs nothing, and does not load itself anew", () => {
    expect(PAGE).not.toContain("<script");
    expect(PAGE).not.toContain("http-equiv");
  });

  it("is named after its first heading", () => {
    expect(PAGE).toContain("<title>Statuses · Synclag</title>");
  });
});
