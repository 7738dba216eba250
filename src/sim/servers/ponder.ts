import { type Answer, type Call, html, json, queryOf, type ServedRow } from "./answer.ts";
import { campaignsOf } from "./campaigns.ts";
import { answerGraphqlJs } from "./graphql-js.ts";
import { schemaOf } from "./select.ts";

// ponder: packages/core/src/graphql/index.ts
const SCHEMA = schemaOf(`
  scalar JSON
  type Query {
    _meta: Meta
    campaigns(where: Any, orderBy: String, orderDirection: String, limit: Int): CampaignPage
  }
  type Meta { status: JSON }
  type CampaignPage { items: [Campaign] }
  type Campaign { id: Any chainId: Any subgraphId: Any }
`);

/** Answers as Ponder does: one JSON value keyed by the chain's name, the id inside, null while back-filling. */
export function answerPonder(call: Call, rows: readonly ServedRow[]): Answer {
  if (call.method === "GET") {
    return call.path.endsWith("/status") ? json(statusOf(rows)) : html("GraphiQL");
  }
  const query = queryOf(call.body);
  if (call.method !== "POST" || query === null) {
    return json({ errors: [{ message: "Must provide query string." }] }, 400);
  }
  const root = {
    _meta: { status: statusOf(rows) },
    campaigns: (args: PageArguments) => ({ items: pageOf(rows, args) }),
  };
  return answerGraphqlJs({ schema: SCHEMA, root, refusalStatus: 200 }, query);
}

interface PageArguments {
  readonly where?: unknown;
  readonly orderDirection?: string;
  readonly limit?: number;
}

/** `where: { chainId: 1 }` is the one condition that is understood. */
function pageOf(rows: readonly ServedRow[], { where, orderDirection, limit = 50 }: PageArguments): unknown {
  const chainId: unknown =
    typeof where === "object" && where !== null && "chainId" in where ? where.chainId : undefined;
  const order = orderDirection === "desc" ? "desc" : "asc";
  return rows
    .filter((row) => chainId === undefined || Number(chainId) === Number(row.chainId))
    .flatMap((row) => campaignsOf(row, { order, limit }))
    .slice(0, limit);
}

function statusOf(rows: readonly ServedRow[]): unknown {
  return Object.fromEntries(
    rows.map((row) => {
      const block = row.block === null ? null : { number: row.block, timestamp: row.timestampSec };
      return [row.chain.slug, { id: row.chainId, block }];
    }),
  );
}
