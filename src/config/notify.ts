import { readFilledUrl, readHeaders, withCredentials } from "./address.ts";
import type { HeartbeatSettings, NotifySettings } from "./config.ts";
import type { Flaws, Spot } from "./problems.ts";
import type { HeartbeatEntry, NotifyEntry } from "./schema.ts";
import type { Filled, Secrets } from "./secrets.ts";

/** Where incidents are told. Null: a problem was added. */
export function resolveNotify(entry: NotifyEntry, spot: Spot, secrets: Secrets): NotifySettings | null {
  const url = resolveUrl(entry.url, spot.at("url"), secrets);
  const headers = readHeaders(entry.headers, spot.at("headers"), secrets, (text, own) =>
    fill(text, own, secrets),
  );
  return url && headers && { url: url.href, headers: withCredentials(headers, url, secrets) };
}

/** The dead man's switch. Null: a problem was added. */
export function resolveHeartbeat(
  entry: HeartbeatEntry,
  spot: Spot,
  secrets: Secrets,
): HeartbeatSettings | null {
  const url = resolveUrl(entry.url, spot.at("url"), secrets);
  return url && { url: url.href, headers: withCredentials({}, url, secrets), everyMs: entry.every };
}

function resolveUrl(text: string, spot: Spot, secrets: Secrets): URL | null {
  const filled = fill(text, spot, secrets);
  return filled && readFilledUrl(filled, spot, secrets);
}

/** Null: problems were added. */
function fill(text: string, spot: Flaws, secrets: Secrets): Filled | null {
  const filled = secrets.fill(text, null);
  for (const { what } of filled.problems) {
    spot.add(what);
  }
  return filled.problems.length > 0 ? null : filled;
}
