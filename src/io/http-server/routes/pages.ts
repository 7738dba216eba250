import { randomBytes } from "node:crypto";
import type { FastifyInstance, FastifyReply } from "fastify";
import { renderChainPage } from "../../../views/page/chain.ts";
import { PLAN_PATH, RUNBOOKS_PATH, STATUSES_PATH } from "../../../views/page/links.ts";
import { renderPlanPage } from "../../../views/page/plan.ts";
import type { PageOptions } from "../../../views/page/shell.ts";
import { renderStatusPage } from "../../../views/page/status.ts";
import { addAssetRoutes } from "./assets.ts";
import { readDocuments } from "./documents.ts";
import { sendProblem } from "./replies.ts";
import type { ServerDeps } from "./server-deps.ts";

interface StatusRoute {
  readonly Querystring: Readonly<Record<string, string | readonly string[] | undefined>>;
}

interface ChainRoute {
  readonly Params: { readonly chain: string };
}

interface RunbookRoute {
  readonly Params: { readonly file: string };
}

/** The span of a card's line, and its number of points. */
const SPARK_MS = 6 * 3_600_000;
const SPARK_POINTS = 120;

/** The HTML pages. */
export function addPageRoutes(server: FastifyInstance, source: ServerDeps): void {
  const plots = addAssetRoutes(server);
  const documents = readDocuments();

  server.get<StatusRoute>("/", (request, reply) => {
    const { q } = request.query;
    const options = { ...pageOptions(source), ...(typeof q === "string" ? { query: q } : {}) };
    return sendPage(reply, { ...options, html: renderStatusPage(source.report(), options) });
  });

  server.get<ChainRoute>("/chains/:chain", (request, reply) => {
    const { chain } = request.params;
    const report = source.report();
    const targets = report.chains.find((one) => one.chain.slug === chain)?.targets ?? [];
    const toMs = report.generatedAtMs;
    const options = {
      ...pageOptions(source),
      past: source.past(
        chain,
        targets.map(({ target }) => target.key),
        { fromMs: toMs - SPARK_MS, toMs, points: SPARK_POINTS },
      ),
      endpoints: source.endpoints(chain),
      plots,
    };
    const html = renderChainPage(report, chain, options);
    return html === null
      ? sendProblem(reply, 404, `No chain '${chain}' is configured`)
      : sendPage(reply, { ...options, html });
  });

  server.get(PLAN_PATH, (_request, reply) => {
    const options = pageOptions(source);
    return sendPage(reply, { ...options, html: renderPlanPage(source.report(), source.plan(), options) });
  });

  server.get(STATUSES_PATH, (_request, reply) => sendDocument(reply, documents.statuses, source));

  server.get<RunbookRoute>(`${RUNBOOKS_PATH}/:file`, (request, reply) => {
    const runbook = documents.runbook(request.params.file);
    return runbook === null
      ? sendProblem(reply, 404, `No runbook '${request.params.file}': a runbook has the name of its alert`)
      : sendDocument(reply, runbook, source);
  });
}

async function sendDocument(
  reply: FastifyReply,
  markdown: string,
  source: ServerDeps,
): Promise<FastifyReply> {
  // On demand: the Markdown parser would add 10 ms to the start.
  const { renderDocumentPage } = await import("../../../views/page/document.ts");
  const options = pageOptions(source);
  return sendPage(reply, { ...options, html: renderDocumentPage(markdown, options) });
}

/** Each reply has its own nonce. */
function pageOptions({ version }: ServerDeps): PageOptions {
  return { nonce: randomBytes(16).toString("base64"), version };
}

/** Text of an upstream cannot run: only the page's own style and script may. */
function sendPage(
  reply: FastifyReply,
  { nonce, html }: { readonly nonce: string; readonly html: string },
): FastifyReply {
  const policy = [
    "default-src 'none'",
    `style-src 'nonce-${nonce}'`,
    `script-src 'nonce-${nonce}'`,
    "connect-src 'self'",
    "img-src 'self' data:",
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
  ].join("; ");
  return reply
    .headers({ "content-security-policy": policy, "cache-control": "no-store" })
    .type("text/html; charset=utf-8")
    .send(html);
}
