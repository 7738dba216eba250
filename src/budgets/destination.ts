import { createHash } from "node:crypto";

/** The URL as it is sent: a fragment is not, and the names of this machine lead to one server. */
export function sentUrl(url: string): string {
  const sent = new URL(url);
  sent.hash = "";
  sent.hostname = sent.hostname.replace(/\.$/, "");
  if (/^(localhost|\[::1\])$/.test(sent.hostname)) {
    sent.hostname = "127.0.0.1";
  }
  return sent.href;
}

/** Names where requests go in what is written to disk or shown: a URL may hold a key. */
export function destinationOf(url: string): string {
  return digestOf(sentUrl(url));
}

export function digestOf(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 32);
}
