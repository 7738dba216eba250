/** Three variants of three hosts on a chain with a block each two seconds, polled each 15 s, with the packaged thresholds. */
export const TRIO = fleetYaml(["multichain", "subgraph", "mirror"]);

/** Variants of one protocol on Base, each of its own host, polled each 15 s unless `schedules` has another interval. */
export function fleetYaml(
  variants: readonly string[],
  {
    blockTime = "2s",
    rpc = 0,
    schedules = {},
    thresholds = {},
  }: {
    /** Null: the chain's pace is unknown. */
    readonly blockTime?: string | null;
    /** How many RPC nodes there are. */
    readonly rpc?: number;
    readonly schedules?: Readonly<Record<string, string>>;
    readonly thresholds?: Readonly<Record<string, string>>;
  } = {},
): string {
  const nodes = Array.from({ length: rpc }, (_, index) => `https://node${index + 1}.test/`);
  const chain = {
    // The pace of a well-known chain is known.
    ...(blockTime === null ? { id: 77_777 } : { id: 8453, block_time: blockTime }),
    rpc: nodes,
    ...(Object.keys(thresholds).length === 0 ? {} : { thresholds }),
  };
  const indexers = variants.map((variant) => ({
    variant,
    dialect: "graph",
    url: `https://${variant}.test/`,
    schedule: schedules[variant] ?? "*/15 * * * * *",
    chains: ["base"],
  }));
  // A YAML file may be JSON.
  return JSON.stringify({ version: 1, chains: { base: chain }, protocols: { airdrops: indexers } });
}
