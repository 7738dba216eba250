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

export async function post(
  url: string,
  body: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<Seen> {
  return see(
    await fetch(url, { method: "POST", headers: { "content-type": "application/json", ...headers }, body }),
  );
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
