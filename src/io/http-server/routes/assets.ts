import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { FastifyInstance } from "fastify";
import type { PlotAssets } from "../../../views/page/shell.ts";

const require = createRequire(import.meta.url);

/** Serves uPlot's files under names that contain its version, and returns their paths. */
export function addAssetRoutes(server: FastifyInstance): PlotAssets {
  const { version } = readVersion(require.resolve("uplot/package.json"));
  const script = `/assets/uplot-${version}.js`;
  const styles = `/assets/uplot-${version}.css`;
  const assets = [
    { path: script, type: "text/javascript", file: require.resolve("uplot/dist/uPlot.iife.min.js") },
    { path: styles, type: "text/css", file: require.resolve("uplot/dist/uPlot.min.css") },
  ];
  for (const { path, type, file } of assets) {
    const body = readFileSync(file);
    server.get(path, (_request, reply) =>
      reply
        .header("cache-control", "public, max-age=31536000, immutable")
        .type(`${type}; charset=utf-8`)
        .send(body),
    );
  }
  return { script, styles };
}

function readVersion(path: string): { readonly version: string } {
  // npm refuses a package without a version.
  return JSON.parse(readFileSync(path, "utf8")) as { version: string };
}
