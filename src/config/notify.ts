import { readFilledUrl, readHeaders, withCredentials } from "./address.ts";
import type { NotifySettings } from "./config.ts";
import type { Flaws, Spot } from "./problems.ts";
import type { Secrets } from "./secrets.ts";

/** A URL that receives messages, with its headers. Null: a problem was added. */
export function resolveNotify(
  entry: { readonly url: string; readonly headers: NotifySettings["headers"] },
  spot: Spot,
  secrets: Secrets,
): NotifySettings | null {
  const fill = (text: string, own: Flaws) => {
    const filled = secrets.fill(text, null);
    for (const { what } of filled.problems) {
      own.add(what);
    }
    return filled.problems.length > 0 ? null : filled;
  };
  const filled = fill(entry.url, spot.at("url"));
  const url = filled && readFilledUrl(filled, spot.at("url"), secrets);
  const headers = readHeaders(entry.headers, spot.at("headers"), secrets, fill);
  return url && headers && { url: url.href, headers: withCredentials(headers, url, secrets) };
}
