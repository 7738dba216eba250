import { readdirSync, readFileSync } from "node:fs";
import { parse } from "node:path";
import type { FastifyInstance } from "fastify";
import { apiMarkdown, openapiDocument } from "../../../views/api/openapi.ts";
import { indexMarkdown, renderDocumentPage } from "../../../views/page/document.ts";
import { API_PATH, DOCS_PATH, RUNBOOKS_PATH, STATUSES_PATH } from "../../../views/page/links.ts";
import type { PageOptions } from "../../../views/page/shell.ts";
import { compressed, HTML_HEADERS, JSON_TYPE, orNotFound, sendGzipped } from "./replies.ts";

/** Serves the documents: their index, the routes of the API (also as OpenAPI), and files of docs/. Each is rendered once. */
export function addDocuments(server: FastifyInstance, options: () => PageOptions): void {
  const documents = readDocuments();
  const bodies = new Map<string, Promise<Buffer>>();
  const bodyOf = (path: string, make: () => string): Promise<Buffer> => {
    const body = bodies.get(path) ?? compressed(make());
    bodies.set(path, body);
    return body;
  };

  server.get("/openapi.json", async ({ routeOptions }, reply) => {
    const make = () => JSON.stringify(openapiDocument(options().version));
    void reply.header("cache-control", "no-store").type(JSON_TYPE);
    return sendGzipped(reply, await bodyOf(routeOptions.url ?? "", make));
  });

  for (const route of [DOCS_PATH, `${DOCS_PATH}/*`]) {
    server.get(route, async ({ url }, reply) => {
      const path = new URL(url, "http://x").pathname.replace(/\.md$|\/$/, "");
      const ours = { [API_PATH]: apiMarkdown, [DOCS_PATH]: () => indexMarkdown(documents) }[path];
      const make = () => {
        const markdown = orNotFound(ours?.() ?? documents.get(path) ?? null, `No document ${path}`);
        return renderDocumentPage(markdown, options());
      };
      void reply.headers({ ...HTML_HEADERS, "cache-control": "no-store" });
      return sendGzipped(reply, await bodyOf(path, make));
    });
  }
}

/** The folder is beside the program, both in its package and in its image. */
const DOCS = new URL("../../../../docs/", import.meta.url);

/** The texts of the Markdown files by path. They are read once, so that they are served even without a free file descriptor. */
function readDocuments(): ReadonlyMap<string, string> {
  const read = (file: string) => readFileSync(new URL(file, DOCS), "utf8");
  const runbooks = readdirSync(new URL("runbooks/", DOCS)).map((file) => parse(file));
  return new Map([
    [STATUSES_PATH, read("statuses.md")],
    ...runbooks.map(({ name, base }) => [`${RUNBOOKS_PATH}/${name}`, read(`runbooks/${base}`)] as const),
  ]);
}
