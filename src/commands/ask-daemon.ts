import { basicAuthorization, readWebUrl } from "../config/address.ts";
import { readProxySettings, readUrlOption } from "../config/options.ts";
import { Secrets } from "../config/secrets.ts";
import type { Report } from "../core/model/report.ts";
import {
  type FailedAnswer,
  fetchJson,
  fetchStatus,
  type StatusQuestion,
} from "../io/http-client/fetch-status.ts";
import { CommandError, type CommandWorld } from "./command-world.ts";

const TIMEOUT_MS = 10_000;

/** A report, and the address of the page about statuses. */
export interface StatusResult {
  readonly json: Report;
  readonly statusesUrl: string;
}

/**
 * Asks a running daemon, which spends no budget. `written`: its address as given by `--url`.
 *
 * @throws {CommandError} If it cannot be asked.
 */
export async function askDaemon(written: string, world: CommandWorld): Promise<StatusResult> {
  const address = readDaemonAddress(written, world);
  const answer = await fetchStatus(address, TIMEOUT_MS, readProxySettings(world.env));
  if (answer.kind === "failed") {
    throw failedAsking(address, answer);
  }
  return { json: answer.json, statusesUrl: `${new URL(address.url).origin}/docs/statuses` };
}

/** What a running daemon answers at a path. @throws {CommandError} If it cannot be asked. */
export async function askDaemonFor(path: string, written: string, world: CommandWorld): Promise<unknown> {
  const address = readDaemonAddress(written, world);
  const answer = await fetchJson(path, address, TIMEOUT_MS, readProxySettings(world.env));
  if (answer.kind === "failed") {
    throw failedAsking(address, answer);
  }
  return answer.json;
}

function failedAsking({ url }: StatusQuestion, { detail, guard }: FailedAnswer): CommandError {
  const advice = guard === null ? "" : `; ${ADVICE[guard]}`;
  return new CommandError(`Cannot ask ${new URL(url).origin}: ${detail}${advice}`);
}

/** How to get past a web configuration. */
const ADVICE = {
  password: `name a user as in --url 'https://USER:\${PASSWORD}@HOST:PORT'`,
  tls: "use a name of its certificate as in --url https://HOST:PORT, and trust your own certificate authority with NODE_EXTRA_CA_CERTS=FILE",
} as const;

/**
 * Parses `--url`: http or https, with user and password if the daemon requires them. A password written as `${VAR}` or
 * `${file:/path}` needs no encoding, and is not visible in the list of processes.
 */
function readDaemonAddress(written: string, world: CommandWorld): StatusQuestion {
  const secrets = new Secrets(world);
  const url = readUrlOption("--url", written, secrets, readWebUrl);
  world.keepSecret(secrets.all);
  const { origin, pathname } = url;
  return { url: `${origin}${pathname}`.replace(/\/+$/, ""), authorization: basicAuthorization(url) };
}
