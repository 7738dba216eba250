/** What a raw client sees. */
export interface Seen {
  readonly status: number;
  readonly headers: Headers;
  /** Parsed where it is JSON, else the text. */
  readonly body: unknown;
}

/** Posts a GraphQL query as any client would. */
export function ask(
  url: string,
  query: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<Seen> {
  return post(url, JSON.stringify({ query }), headers);
}

/** Calls a JSON-RPC method. */
export function call(url: string, method: string, params: readonly unknown[]): Promise<Seen> {
  return post(url, JSON.stringify({ jsonrpc: "2.0", id: 7, method, params }));
}

export async function post(
  url: string,
  body: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<Seen> {
  return see(
    await fetch(url, { method: "POST", headers: { "content-type": "application/json", ...headers }, body }),
  );
}

export async function get(url: string): Promise<Seen> {
  return see(await fetch(url, { redirect: "manual" }));
}

async function see(response: Response): Promise<Seen> {
  const text = await response.text();
  const isJson = response.headers.get("content-type")?.startsWith("application/json") === true;
  return {
    status: response.status,
    headers: response.headers,
    body: isJson && text !== "" ? JSON.parse(text) : text,
  };
}
