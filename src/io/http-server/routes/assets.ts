import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { FastifyInstance } from "fastify";
import type { PageAssets } from "../../../views/page/shell.ts";
import { compressed, sendGzipped } from "./bodies.ts";

const require = createRequire(import.meta.url);
const TYPES = { js: "text/javascript; charset=utf-8", css: "text/css; charset=utf-8" } as const;

/** Serves the scripts and styles of the pages under names that contain their hash, and returns their paths. */
export function addAssetRoutes(server: FastifyInstance): PageAssets {
  /** `file`: its path or URL. */
  function serve(name: string, type: keyof typeof TYPES, file: string | URL): string {
    const content = readFileSync(file);
    const hash = createHash("sha256").update(content).digest("hex").slice(0, 12);
    const path = `/assets/${name}.${hash}.${type}`;
    let body: Promise<Buffer> | null = null;
    server.get(path, { config: { isOpen: true } }, async (_request, reply) => {
      body ??= compressed(content);
      void reply.header("cache-control", "public, max-age=31536000, immutable").type(TYPES[type]);
      return await sendGzipped(reply, await body);
    });
    return path;
  }

  const ours = (file: string) => new URL(`../../../../assets/${file}`, import.meta.url);
  return {
    styles: serve("page", "css", ours("page.css")),
    headerScript: serve("header", "js", ours("header.js")),
    script: serve("page", "js", ours("page.js")),
    plotStyles: serve("uplot", "css", require.resolve("uplot/dist/uPlot.min.css")),
    plotLibrary: serve("uplot", "js", require.resolve("uplot/dist/uPlot.iife.min.js")),
    plotScript: serve("plots", "js", ours("plots.js")),
  };
}
