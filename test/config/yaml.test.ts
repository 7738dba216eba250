import { serialize } from "node:v8";
import { expect, it } from "vitest";
import { configOf } from "../support/running-app.ts";

/** What V8 writes before a text that it keeps in one byte a character. */
const ONE_BYTE = '"'.charCodeAt(0);

it("keeps names as strings of one byte a character, so that the text of /metrics stays small", () => {
  const { fleet } = configOf(`
# A comment – with a dash.
version: 1
chains: { base: { id: 8453 } }
protocols:
  airdrops: [{ variant: subgraph, url: "https://graph.example/{chain}", chains: [base] }]
`);

  const names = [
    ...fleet.chains.map(({ slug }) => slug),
    ...fleet.indexers.flatMap(({ protocol, variant }) => [protocol, variant]),
  ];

  expect(names).toEqual(["base", "airdrops", "subgraph"]);
  expect(names.map((name) => serialize(name)[2])).toEqual(names.map(() => ONE_BYTE));
});
