import type { z } from "zod";
import { basicAuthorization, readWebUrl } from "../config/address.ts";
import { readProxySettings, readUrlOption } from "../config/options.ts";
import { Secrets } from "../config/secrets.ts";
import { parseJson } from "../core/model/text.ts";
import { titleOf } from "../dialects/error-patterns.ts";
import { quote } from "../dialects/values.ts";
import { createHttpClient, type HttpClient } from "../io/http-client/client.ts";
import { certificateFault } from "../io/http-client/failure.ts";
import { buildOf, CommandError, type CommandWorld, EXIT } from "./command-world.ts";

const TIMEOUT_MS = 10_000;
/** The largest reply. Even the report of thousands of targets is far smaller. */
const MAX_BYTES = 64 * 1024 * 1024;

/** Advice for a daemon with a web configuration. */
const CHECK_USER = `check user and password, as in --url 'https://USER:\${PASSWORD}@HOST:PORT'`;
const ON_CERTIFICATE = {
  authority: "trust your own certificate authority with NODE_EXTRA_CA_CERTS=FILE",
  host: "use a name of its certificate as in --url https://HOST:PORT",
} as const;

/** A reply, and the daemon that sent it. `origin` is null if no daemon was asked. */
export interface Answered<Answer> {
  readonly answer: Answer;
  readonly origin: string | null;
}

/**
 * Asks a running daemon. This sends no request to an indexer, so it spends no budget. `written`: its address as in `--url`: http or https, with user and password
 * if the daemon requires them. A password written as `${VAR}` or `${file:/path}` needs no encoding, and is not visible in the
 * list of processes.
 *
 * @throws {CommandError} If the daemon does not reply, or its reply does not fit `schema`.
 */
export async function askDaemon<Answer>(
  path: string,
  schema: z.ZodType<Answer>,
  written: string,
  world: CommandWorld,
  timeoutMs = TIMEOUT_MS,
): Promise<Answered<Answer>> {
  const secrets = new Secrets(world);
  const url = readUrlOption("--url", written, secrets, readWebUrl);
  world.keepSecret(secrets.all);
  const { origin, pathname } = url;
  const refuse = (detail: string) =>
    new CommandError(`Cannot ask ${origin}: ${world.redact(detail)}`, { exitCode: EXIT.failure });
  await using client = openClient(world, timeoutMs, MAX_BYTES);
  const authorization = basicAuthorization(url);
  const result = await client.post({
    url: `${origin}${pathname.replace(/\/+$/, "")}${path}`,
    headers: authorization === null ? {} : { authorization },
    body: null,
  });
  if (result.kind === "failed") {
    const fault = certificateFault(result.detail);
    throw refuse(`${result.detail}${fault === null ? "" : `; ${ON_CERTIFICATE[fault]}`}`);
  }
  const { httpStatus, location, body } = result.reply;
  if (location !== undefined) {
    throw refuse(`HTTP ${httpStatus} redirects to ${quote(location)}; redirects are not followed`);
  }
  if (httpStatus !== 200) {
    throw refuse(`answered with HTTP ${httpStatus}${httpStatus === 401 ? `; ${CHECK_USER}` : ""}`);
  }
  const json = parseJson(printable(body));
  const { success, data, error } = schema.safeParse(json);
  if (!success) {
    const [issue] = error.issues;
    const fault = [issue?.path.join("."), issue?.message.replace("Invalid input: ", "")]
      .filter((part) => part !== "")
      .join(": ");
    const what = json === undefined ? `not JSON: ${quote(titleOf(body) ?? body) || "an empty body"}` : fault;
    throw refuse(
      `answered with something other than a Synclag status of this version (${what}): check the address and the version`,
    );
  }
  return { answer: data, origin };
}

/** Replaces control characters in the texts of JSON by spaces: a daemon sends none, but another server might, to the terminal. */
function printable(json: string): string {
  return json.replace(ESCAPE_OR_CONTROL, (found) => (CONTROL.test(found) ? " " : found));
}

/** Matches each JSON escape as a whole. In `\\n` the escape is the doubled backslash, and `n` is a letter. */
const ESCAPE_OR_CONTROL = /\\(?:u[\da-f]{4}|.)|[\x7f-\x9f]/gi;
const CONTROL = /^(?:\\(?:u00(?:[01][\da-f]|7f|[89][\da-f])|[bfnrt])|[\x7f-\x9f])$/;

/** A client for the requests that a command sends. @throws {ConfigError} If a variable for proxies is invalid. */
export function openClient(world: CommandWorld, timeoutMs: number, maxResponseBytes: number): HttpClient {
  return createHttpClient({
    timeoutMs,
    maxResponseBytes,
    connectionsPerHost: 1,
    userAgent: `synclag/${buildOf(world).version}`,
    nowMs: world.nowMs,
    proxy: readProxySettings(world.env),
  });
}
