import type { TargetJson } from "./status-json.ts";

type Named = Pick<TargetJson, "protocol" | "variant" | "tier">;

/** Where a chain's page is. */
export function chainPath(slug: string): string {
  return `/chains/${encodeURIComponent(slug)}`;
}

/** The fragment of a target on its chain's page. */
export function targetAnchor({ protocol, variant, tier }: Named): string {
  return [protocol, variant, tier].map(encodeURIComponent).join("-");
}

/** Where a protocol on a chain is told as JSON. */
export function pairPath(protocol: string, chain: string): string {
  return `/api/v1/status/${encodeURIComponent(protocol)}/${encodeURIComponent(chain)}`;
}
