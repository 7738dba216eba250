/** Gets one URL of a program under test, within a deadline, and says what came instead of a success. */
export async function getText(url: string): Promise<string> {
  const response = await fetch(url, { signal: AbortSignal.timeout(10_000) });
  const body = await response.text();
  if (!response.ok) {
    throw new Error(`Cannot get ${url}: HTTP ${response.status}, ${body.slice(0, 300)}`);
  }
  return body;
}

/** Like `getText()`, for JSON. The caller says what shape it reads. */
export async function getJson(url: string): Promise<unknown> {
  return JSON.parse(await getText(url));
}

/** Posts JSON and reads JSON. */
export async function postJson(url: string, body: unknown): Promise<unknown> {
  const response = await fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(10_000),
  });
  return response.json();
}
