import type { ServedRow } from "./answer.ts";

/** A row of `campaigns`, or of `streams`: one for each event, numbered from 1. */
export interface CampaignRow {
  readonly id: string;
  readonly chainId: unknown;
  /** A big number, and so a string. */
  readonly subgraphId: unknown;
}

const MAX_ROWS = 100;

/** The campaigns of a chain, newest first or oldest first. Where the target says something else, one row with that. */
export function campaignsOf(
  { campaigns, chainId }: ServedRow,
  { order, limit }: { readonly order: "asc" | "desc"; readonly limit: number },
): readonly CampaignRow[] {
  if (typeof campaigns !== "number") {
    return [{ id: `${String(chainId)}-0`, chainId, subgraphId: campaigns }];
  }
  const length = Math.max(0, Math.min(campaigns, limit, MAX_ROWS));
  return Array.from({ length }, (_, index) => {
    const number = order === "desc" ? campaigns - index : 1 + index;
    return { id: `${String(chainId)}-${number}`, chainId, subgraphId: String(number) };
  });
}
