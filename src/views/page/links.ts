import { EVENT_FILTERS } from "../api/queries.ts";

/** Budgets and the polling plan. */
export const PLAN_PATH = "/plan";
/** The page of incidents. */
export const INCIDENTS_PATH = "/incidents";
/** The index of the documents that Synclag serves. */
export const DOCS_PATH = "/docs";
export const API_PATH = "/docs/api";
export const STATUSES_PATH = "/docs/statuses";
/** The folder of the runbooks. Each has the name of an alert. */
export const RUNBOOKS_PATH = "/docs/runbooks";

/** The parameters in the URL of a page; each may be empty. */
export interface View {
  /** The content of the filter box. */
  readonly q: string;
  /** `chain`, or the `protocol/variant/tier` of a column. Anything else sorts by the worst target of each chain. */
  readonly sort: string;
  /** The range of the strips, such as `7d`. Anything unknown is the last 24 hours. */
  readonly range: string;
}

/** The URL of the status page with this filter, order and range. */
export function fleetPath(view: View): string {
  return withQuery("/", { ...view });
}

/** The URL of the page of incidents with these filters. */
export function eventsPath(query: object): string {
  const known = ["range", "from", "to", ...EVENT_FILTERS];
  const named = Object.entries(query).filter(([name]) => known.includes(name));
  return withQuery(INCIDENTS_PATH, Object.fromEntries(named));
}

/** A path with the query parameters that are not empty. */
export function withQuery(path: string, query: Readonly<Record<string, unknown>>): string {
  const named = Object.entries(query).flatMap(([name, value]) =>
    typeof value === "string" && value !== "" ? `${name}=${encodeURIComponent(value)}` : [],
  );
  return named.length === 0 ? path : `${path}?${named.join("&")}`;
}

/** The fragment of a protocol's parity on the page of a chain. */
export function parityAnchor(protocol: string): string {
  return `parity-${encodeURIComponent(protocol)}`;
}

/** The status or the history of a protocol on a chain as JSON. */
export function pairPath(what: "status" | "history", protocol: string, chain: string): string {
  return `/api/v1/${what}/${encodeURIComponent(protocol)}/${encodeURIComponent(chain)}`;
}

/** The explanation of one status. */
export function statusPath(status: string): string {
  return `${STATUSES_PATH}#${status}`;
}
