import { GraphQLError, type GraphQLSchema, validate } from "graphql";
import { type Answer, json } from "./answer.ts";
import { parseQuery, select } from "./select.ts";

/** How a server built on graphql-js answers. */
export interface GraphqlJsServer {
  readonly schema: GraphQLSchema;
  /** What the root fields hold. */
  readonly root: Readonly<Record<string, unknown>>;
  /** The HTTP status of a refusal: 200 from graphql-yoga, 400 from Apollo Server. */
  readonly refusalStatus: 200 | 400;
}

/** Answers a query, or refuses it with graphql-js's own errors. */
export function answerGraphqlJs({ schema, root, refusalStatus }: GraphqlJsServer, query: string): Answer {
  const document = parseQuery(query);
  if (document instanceof GraphQLError) {
    return refusal([document], "GRAPHQL_PARSE_FAILED", refusalStatus);
  }
  const errors = validate(schema, document);
  return errors.length > 0
    ? refusal(errors, "GRAPHQL_VALIDATION_FAILED", refusalStatus)
    : json({ data: select(schema, document, root) });
}

function refusal(errors: readonly GraphQLError[], code: string, status: number): Answer {
  return json(
    {
      errors: errors.map(({ message, locations }) => ({ message, locations, extensions: { code } })),
    },
    status,
  );
}
