import {
  buildSchema,
  type DocumentNode,
  execute,
  FieldsOnCorrectTypeRule,
  GraphQLError,
  type GraphQLSchema,
  parse,
  ScalarLeafsRule,
  validate,
} from "graphql";
import { type Answer, json } from "./answer.ts";

/** A GraphQL server, and how it words a refusal. */
export interface GraphqlServer {
  readonly schema: GraphQLSchema;
  readonly refuse: (errors: readonly GraphQLError[]) => Answer;
}

/** A schema whose leaves are of type `Any`, because a simulated indexer can be made to answer with values of any type. */
export function schemaOf(definitions: string): GraphQLSchema {
  return buildSchema(`scalar Any\n${definitions}`, { assumeValid: true });
}

/** Answers a query: `root` has a value, or a function of the arguments, for each root field. */
export function answerQuery(
  { schema, refuse }: GraphqlServer,
  query: string,
  root: Readonly<Record<string, unknown>>,
): Answer {
  const document = understand(schema, query);
  if ("length" in document) {
    return refuse(document);
  }
  const result = execute({ schema, document, rootValue: root });
  if ("then" in result) {
    throw new TypeError("Cannot answer: a simulated field must not be a promise");
  }
  const [error] = result.errors ?? [];
  if (error !== undefined) {
    throw error.originalError ?? error;
  }
  return json({ data: result.data });
}

/** As graphql-js itself words it: 200 from graphql-yoga, 400 from Apollo Server. */
export function refuseAsGraphqlJs(errors: readonly GraphQLError[], status: 200 | 400): Answer {
  const all = errors.map(({ message, locations }) => ({
    message,
    locations,
    extensions: { code: "GRAPHQL_VALIDATION_FAILED" },
  }));
  return json({ errors: all }, status);
}

/** The field that a schema lacks, as an error of graphql-js names it; null for any other error. */
export function unknownFieldIn({
  message,
}: GraphQLError): { readonly field: string; readonly type: string } | null {
  const [, field, type] = /^Cannot query field "(\w+)" on type "(\w+)"/.exec(message) ?? [];
  return field === undefined || type === undefined ? null : { field, type };
}

type Understood = DocumentNode | readonly GraphQLError[];

/** Queries that a server remembers: the same few are asked again and again. */
const MOST_REMEMBERED = 100;
const remembered = new WeakMap<GraphQLSchema, Map<string, Understood>>();

function understand(schema: GraphQLSchema, query: string): Understood {
  const known = remembered.get(schema) ?? new Map<string, Understood>();
  const understood = known.get(query) ?? check(schema, query);
  if (known.size === MOST_REMEMBERED) {
    known.clear();
  }
  remembered.set(schema, known.set(query, understood));
  return understood;
}

function check(schema: GraphQLSchema, query: string): Understood {
  try {
    const document = parse(query);
    const errors = validate(schema, document, [FieldsOnCorrectTypeRule, ScalarLeafsRule]);
    return errors.length === 0 ? document : errors;
  } catch (error) {
    if (error instanceof GraphQLError) {
      return [error];
    }
    throw error;
  }
}
