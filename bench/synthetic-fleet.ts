import { stringify } from "yaml";

export interface FleetSpec {
  readonly endpoints: number;
  readonly chains: number;
  /** The origin of all endpoints, such as `http://localhost:1234`. */
  readonly origin: string;
  /** A six-field expression, such as every 15 s. */
  readonly schedule: string;
  /** Maximum concurrent requests, all to one host. */
  readonly concurrency: number;
}

/** A chains.yaml with this number of endpoints on one host. Each variant has one endpoint for each chain. */
export function syntheticFleet({ endpoints, chains, origin, schedule, concurrency }: FleetSpec): string {
  const slugs = Array.from({ length: Math.min(chains, endpoints) }, (_, index) => `chain-${index}`);
  const variants = Array.from({ length: Math.ceil(endpoints / slugs.length) }, (_, index) => ({
    variant: `variant-${index}`,
    dialect: "graph",
    url: `${origin}/${index}/{chain}`,
    schedule,
    chains: slugs.slice(0, endpoints - index * slugs.length),
  }));
  return stringify({
    version: 1,
    listen: "127.0.0.1:0",
    poll: { concurrency, per_host: concurrency },
    chains: Object.fromEntries(
      slugs.map((slug, index) => [slug, { id: index + 1, name: `Chain ${index}`, block_time: "2s" }]),
    ),
    protocols: { airdrops: variants },
  });
}
