import type { App } from "../app/app.ts";
import { readWebUrl } from "../config/address.ts";
import { readUrlOption } from "../config/options.ts";
import { parseConfig } from "../config/parse.ts";
import { Secrets } from "../config/secrets.ts";
import { formatClock } from "../core/model/text.ts";
import { renderCheckTable } from "../views/terminal/check.ts";
import { screenOf } from "../views/terminal/screen.ts";
import { KeyVariables } from "./chains-yaml.ts";
import { CommandError, type CommandWorld, colorsFor, EXIT, type Flags } from "./command-world.ts";
import { daemonWorld } from "./daemon-world.ts";
import { askAll } from "./init.ts";
import { readListen } from "./load-config.ts";
import { runUntilSignal } from "./run.ts";

/**
 * `synclag watch`: asks each endpoint what it is, and runs the daemon on all of them until it is stopped. Nothing is written to disk.
 *
 * @throws {CommandError | ConfigError} If an endpoint or an argument cannot be used.
 */
export async function watch(flags: Flags, world: CommandWorld, urls: readonly string[]): Promise<number> {
  const listen = readListen(flags.listen);
  const filled = fillUrls(urls, world);
  const variables = new KeyVariables(flags.header);
  const { asked, yaml } = await askAll(filled, flags, world, variables);
  const unusable = asked.filter(({ endpoint }) => endpoint === null);
  if (unusable.length > 0) {
    throw failed(unusable.map(({ said }) => `Cannot watch ${said}`).join("\n"));
  }
  if (yaml === null) {
    throw failed("Cannot watch RPC nodes alone: name an indexer, too");
  }
  world.err(asked.map(({ said }) => `  ${said}`).join("\n"));
  const { readFile } = world;
  const parsed = parseConfig(yaml, { file: "watch", env: { ...world.env, ...variables.values }, readFile });
  world.keepSecret(parsed.secrets);
  const config = { ...parsed, listen: listen ?? parsed.listen };
  // Only errors are logged: the table shows the rest.
  const own = await daemonWorld(world, "error");
  return await runUntilSignal(config, world, { ...own, loadConfig: () => config }, (app) => show(app, world));
}

/**
 * The URLs with their variables filled in, without duplicates. Unlike in chains.yaml, the values are percent-encoded.
 */
function fillUrls(urls: readonly string[], world: CommandWorld): readonly string[] {
  const secrets = new Secrets(world);
  const filled = urls.map((url, index) => {
    const name = urls.length > 1 ? `URL ${index + 1}` : "URL";
    return readUrlOption(name, url, secrets, readWebUrl).href;
  });
  world.keepSecret(secrets.all);
  return [...new Set(filled)];
}

function failed(message: string): CommandError {
  return new CommandError(message, { exitCode: EXIT.failure });
}

const REDRAW_MS = 1_000;

/**
 * Redraws the table of `check` each second. Without a terminal, prints it once all targets have a status, and when a status changes.
 */
function show({ report, url }: App, world: CommandWorld): AsyncDisposable {
  let shown = "";
  const draw = (): void => {
    const json = report();
    const { outColumns, outIsTerminal, outRows } = world;
    const table = renderCheckTable(json, {
      unfiltered: json,
      selections: [],
      color: colorsFor("out", world),
      widthColumns: outColumns || null,
      statusesUrl: `${url}/docs/statuses`,
    });
    const nowMs = Date.parse(json.generated_at);
    const text = `${formatClock(nowMs, nowMs)}  ${table}\n\nPage: ${url}/  Stop: Ctrl-C`;
    const statuses = json.targets.map(({ key, status }) => `${key} ${status}`).join("\n");
    if (outIsTerminal) {
      world.out(screenOf(text, { columns: outColumns || null, rows: outRows || null }));
    } else if (statuses !== shown && json.targets.every(({ since }) => since !== null)) {
      shown = statuses;
      world.out(`${text}\n`);
    }
  };
  draw();
  const timer = setInterval(draw, REDRAW_MS);
  return {
    async [Symbol.asyncDispose]() {
      clearInterval(timer);
    },
  };
}
