import { createHash } from "node:crypto";
import type { Sections } from "./fleet.ts";
import { ownValuesOf } from "./indexers.ts";
import type { IndexerEntry } from "./schema.ts";
import { writtenKeys } from "./secrets.ts";

/**
 * A digest of what a configuration polls: chains, nodes and indexers, without schedules, thresholds and links. Variables in URLs
 * are not expanded, so two processes agree even if one of them lacks an API key.
 */
export function digestOfPolled({ chains, protocols }: Pick<Sections, "chains" | "protocols">): string {
  const polled = [
    [...(chains ?? [])].map(([slug, { value }]) => [slug, value?.id, value?.rpc.map(requestOf)]),
    [...(protocols ?? [])].map(([protocol, entries]) => [
      protocol,
      entries?.map(({ value }) => value && { ...requestOf(value), ...servedOf(value) }),
    ]),
  ];
  const text = JSON.stringify(polled, (_, part: unknown) =>
    typeof part === "string" && /^https?:/i.test(part) ? withoutKeys(part) : part,
  );
  return createHash("sha256").update(text).digest("hex").slice(0, 16);
}

function requestOf({
  url,
  dialect,
  custom,
  metrics,
}: Pick<IndexerEntry, "url" | "dialect" | "custom" | "metrics">) {
  return { url, dialect, custom, metrics };
}

function servedOf({ variant, tier, status, chains }: IndexerEntry) {
  const served = Array.isArray(chains)
    ? chains
    : Object.entries(chains).map(([slug, own]) => [slug, own.url, Object.fromEntries(ownValuesOf(own))]);
  return { variant, tier, status, served };
}

function withoutKeys(url: string): string {
  return writtenKeys(url).reduce((rest, { before, key }) => rest.replaceAll(before + key, () => before), url);
}
