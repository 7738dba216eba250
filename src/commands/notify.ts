import { readProxySettings } from "../config/options.ts";
import { isoTime } from "../core/model/text.ts";
import { deliver, openNotifyClient } from "../daemon/notify.ts";
import { NOTIFY_BODIES } from "../views/wording/notification.ts";
import { buildOf, CommandError, type CommandWorld, EXIT, type Flags } from "./command-world.ts";
import { loadConfig } from "./load-config.ts";

/**
 * `synclag notify test`: sends one message to the URL of `notify`, in its format.
 *
 * @throws {ConfigError | CommandError} If the configuration is invalid, or has no `notify`.
 */
export async function notifyTest(flags: Flags, world: CommandWorld): Promise<number> {
  const { notify } = loadConfig(flags.config, world);
  if (notify === null) {
    throw new CommandError(`Cannot send a message: ${flags.config} has no notify`);
  }
  const { chatId, format, headers, url } = notify;
  const time = isoTime(world.nowMs());
  const text = "Test message of Synclag: incidents of your indexers will be posted here.";
  const body = NOTIFY_BODIES[format]({ version: 1, event: "test", id: `test ${time}`, time, text }, chatId);
  await using client = openNotifyClient({
    ...{ build: buildOf(world), nowMs: world.nowMs, proxy: readProxySettings(world.env) },
  });
  const { detail, isAccepted } = await deliver(client, { url, headers, body });
  if (!isAccepted) {
    throw new CommandError(`The message was not accepted: ${detail}`, { exitCode: EXIT.failure });
  }
  world.out(`The message was accepted: ${detail}`);
  return EXIT.ok;
}
