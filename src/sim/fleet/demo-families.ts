import type { Config } from "../../config/config.ts";
import { parseConfig } from "../../config/parse.ts";

/** A small protocol that the demo has beside those of chains.yaml: one variant of each other family of indexers. */
const PROTOCOL = `
version: 1
chains:
  base: { id: 8453 }
  ethereum: { id: 1 }
protocols:
  vaults:
    - variant: subgraph
      dialect: graph
      url: "http://graph-node.vaults.example:8000/subgraphs/id/{deployment}"
      status: { url: "http://graph-node.vaults.example:8030/graphql", deployment: "{deployment}" }
      chains:
        base: { deployment: QmbTA668GTsFYJSaMvcw51HswCtNHrNwDTdnZdHNqeRDMy }
        ethereum: { deployment: QmTgTXv96wo5WiZih9AmbcLX6ZaXs1eqamLZSAUcj9HXvs }
    - variant: ponder
      dialect: ponder
      url: http://ponder.vaults.example:42069/graphql
      chains: [base, ethereum]
    - variant: ponder-status
      dialect: ponder-status
      url: http://ponder.vaults.example:42069/status
      chains: [base, ethereum]
    - variant: envio-metrics
      dialect: envio-metrics
      url: http://envio.vaults.example:9898/metrics
      chains: [base, ethereum]
    - variant: squid
      dialect: squid
      url: http://squid.vaults.example:4350/graphql
      chains: [base]
    - variant: subquery
      dialect: subquery
      url: http://subquery.vaults.example:3000/
      chains: [base, ethereum]
    - variant: custom
      dialect: custom
      custom: { query: "{ lastBlock }", height: lastBlock }
      url: http://custom.vaults.example/graphql
      chains: [ethereum]
`;

/** The packaged configuration with the demo's own protocol, whose chains it must have. */
export function withDemoFamilies(packaged: Config): Config {
  const readFile = (): never => {
    throw new RangeError("Cannot read a file: the demo's protocol names none");
  };
  const { fleet } = parseConfig(PROTOCOL, { file: "the demo's protocol", env: {}, readFile });
  return {
    ...packaged,
    fleet: { ...packaged.fleet, indexers: [...packaged.fleet.indexers, ...fleet.indexers] },
  };
}
