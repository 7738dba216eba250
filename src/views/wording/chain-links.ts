import type { IndexerId } from "../../core/model/fleet.ts";

/** The page of a chain. */
export function chainPath(slug: string): string {
  return `/chains/${encodeURIComponent(slug)}`;
}

/** The fragment of a target on the page of its chain. */
export function targetAnchor({ protocol, variant, tier }: IndexerId): string {
  return [protocol, variant, tier].map(encodeURIComponent).join("-");
}

/** The fragment of a protocol on the page of a chain. */
export function pairAnchor(protocol: string): string {
  return `pair-${encodeURIComponent(protocol)}`;
}
