import { createClient, ErrorReply, type RedisClientType } from "@redis/client";
import { z } from "zod";
import type { StoreAddress, StoreSettings } from "../../config/config.ts";
import { codeOf, connectionDetail } from "../http-client/failure.ts";
import type { World } from "../world.ts";
import {
  NOT_CONNECTED,
  REPLACED,
  type StoreFailure,
  type StoreReply,
  type StoreScript,
} from "./store-script.ts";

type StoreWorld = Pick<World, "logger" | "random">;
type Client = RedisClientType<Record<string, never>, Record<string, never>, Record<string, never>, 2>;

const CALL_MS = 1_000;
const PROBE_INTERVAL_MS = 1_000;
const PROBE_LIFETIME_MS = 60_000;
const FIRST_DELAY_MS = 100;
const LONGEST_DELAY_MS = 2_000;

/** What the users of a store need of it. */
export type ScriptRunner = Pick<RedisStore, "run">;

/**
 * A connection to Redis or Valkey that is made again when it breaks, with pauses of 0.1 to 2 s between attempts.
 *
 * No call waits for a connection, or longer than a second for a reply. A call without a reply in time closes the connection,
 * so a server that takes longer than a second is away. It is also away while it refuses to write, which is tried each second.
 */
export class RedisStore implements AsyncDisposable {
  /** For people: the address without user and password. */
  readonly name: string;
  readonly #settings: StoreSettings;
  readonly #world: StoreWorld;
  /** Null while there is no connection that could write when it was made. */
  #client: Client | null = null;
  /** What failed last; null while the store is up. */
  #failure: StoreFailure | null = null;
  /** By the key, why the last script on it failed while the store was up. */
  readonly #unusable = new Map<string, string>();
  #isClosing = false;
  #wake: () => void = () => undefined;
  #kept: Promise<void> = Promise.resolve();

  private constructor(settings: StoreSettings, world: StoreWorld) {
    this.name = storeName(settings.address);
    this.#settings = settings;
    this.#world = world;
  }

  /** Connects, and keeps the connection. It waits for the first attempt, a second at most; the store need not be there. */
  static async open(settings: StoreSettings, world: StoreWorld): Promise<RedisStore> {
    const store = new RedisStore(settings, world);
    await store.#connect();
    store.#kept = store.#keepConnected();
    return store;
  }

  /** Whether the last attempt to write succeeded, and the last call for each key. */
  isUp(): boolean {
    return this.#client !== null && this.#failure === null && this.#unusable.size === 0;
  }

  /**
   * Runs a script on keys of this fleet, which are given without their common prefix, and parses its reply. A value that the script has
   * to replace is logged with its key.
   */
  async run<Value>(
    script: StoreScript<Value>,
    keys: readonly string[],
    args: readonly (string | number)[],
  ): Promise<StoreReply<Value>> {
    const client = this.#client;
    if (client === null) {
      return NOT_CONNECTED;
    }
    const rest = [String(keys.length), ...keys.map((key) => this.#key(key)), ...args.map(String)];
    const reply = await withinTime(async () =>
      script.reply.parse(await this.#evaluate(client, script, rest)),
    );
    const key = this.#key(keys[0] ?? "");
    if (reply.kind === "reply") {
      this.#unusable.delete(key);
    } else if (reply.reason === "unusable") {
      this.#rememberUnusable(key, reply.detail);
    } else {
      this.#fail(client, reply);
    }
    return reply;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosing = true;
    this.#wake();
    await this.#kept;
    destroy(this.#client);
    this.#client = null;
  }

  async #keepConnected(): Promise<void> {
    let delayMs = FIRST_DELAY_MS;
    while (!this.#isClosing) {
      if (this.#client === null) {
        await this.#pause(delayMs * (1 - this.#world.random() / 2));
        delayMs = Math.min(2 * delayMs, LONGEST_DELAY_MS);
        await this.#connect();
      } else {
        delayMs = FIRST_DELAY_MS;
        await this.#pause(PROBE_INTERVAL_MS);
        await this.#probe();
      }
    }
  }

  async #connect(): Promise<void> {
    if (this.#isClosing) {
      return;
    }
    const client = createClientFor(this.#settings.address);
    client.on("error", (error) => this.#fail(client, storeFailure(error)));
    const reply = await withinTime(async () => {
      await client.connect();
      await this.#write(client);
    });
    if (reply.kind === "failed") {
      destroy(client);
      this.#remember(reply);
      return;
    }
    this.#client = client;
    this.#unusable.clear();
    this.#remember(null);
  }

  /** A write shows what a read does not: a replica, a full memory, a missing permission. */
  async #probe(): Promise<void> {
    const client = this.#client;
    if (client === null) {
      return;
    }
    const reply = await withinTime(() => this.#write(client));
    if (reply.kind === "reply") {
      this.#remember(null);
    } else {
      // The host name may lead to another server now, such as the new primary.
      this.#drop(client, reply);
    }
  }

  /** Sends the text of a script that the server does not have. Where a script has replaced a value, it runs again. */
  async #evaluate(
    client: Client,
    { sha, lua }: StoreScript<unknown>,
    rest: readonly string[],
  ): Promise<unknown> {
    const call = (): Promise<unknown> =>
      client.sendCommand(["EVALSHA", sha, ...rest]).catch((error: unknown) => {
        if (!isReply(error, "NOSCRIPT")) {
          throw error;
        }
        return client.sendCommand(["EVAL", lua, ...rest]);
      });
    return await call().catch((error: unknown) => {
      if (!isReply(error, REPLACED)) {
        throw error;
      }
      this.#world.logger.warn(
        { store: this.name, key: error.message.slice(REPLACED.length + 1) },
        "A value in the store was unusable and has been replaced",
      );
      return call();
    });
  }

  #fail(client: Client, failure: StoreFailure): void {
    if (failure.reason !== "refused") {
      this.#drop(client, failure);
    } else if (client === this.#client) {
      this.#remember(failure);
    }
  }

  #drop(client: Client, failure: StoreFailure): void {
    destroy(client);
    if (client === this.#client) {
      this.#client = null;
      this.#remember(failure);
      this.#wake();
    }
  }

  /** Logs the changes. */
  #remember(failure: StoreFailure | null): void {
    const { logger } = this.#world;
    if (failure !== null && (this.#failure === null || failure.detail !== this.#failure.detail)) {
      logger.warn({ store: this.name, detail: failure.detail }, "Store unreachable");
    }
    if (failure === null && this.#failure !== null) {
      logger.info({ store: this.name }, "Store reachable again");
    }
    this.#failure = failure;
  }

  /** Logs the changes. */
  #rememberUnusable(key: string, detail: string): void {
    if (this.#unusable.get(key) !== detail) {
      this.#unusable.set(key, detail);
      this.#world.logger.warn({ store: this.name, key, detail }, "The store cannot be used for this key");
    }
  }

  /** The braces keep all keys of a fleet on one node of a Redis cluster. */
  #key(key: string): string {
    return `synclag:{${this.#settings.cluster}}:${key}`;
  }

  async #write(client: Client): Promise<unknown> {
    return await client.sendCommand(["SET", this.#key("probe"), "1", "PX", PROBE_LIFETIME_MS.toString()]);
  }

  async #pause(ms: number): Promise<void> {
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}

function createClientFor({ host, port, isEncrypted, ...address }: StoreAddress): Client {
  const { username, password, database } = address;
  const socket = { host, port, connectTimeout: CALL_MS, reconnectStrategy: false } as const;
  return createClient({
    socket: isEncrypted ? { ...socket, tls: true } : socket,
    ...(username === null ? {} : { username }),
    ...(password === null ? {} : { password }),
    database,
    RESP: 2,
    disableOfflineQueue: true,
    maintNotifications: "disabled",
    // The time of a call is limited here, with its reply.
    commandOptions: { timeout: 0 },
  });
}

async function withinTime<Value>(call: () => Promise<Value>): Promise<StoreReply<Value>> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<StoreFailure>((resolve) => {
    // After a pause of this process the reply may be there already: it is read before the immediate.
    timer = setTimeout(() => setImmediate(resolve, NO_REPLY), CALL_MS);
  });
  const reply = call().then((value): StoreReply<Value> => ({ kind: "reply", value }), storeFailure);
  const first = await Promise.race([reply, late]);
  clearTimeout(timer);
  return first;
}

function destroy(client: Client | null): void {
  if (client?.isOpen === true) {
    client.destroy();
  }
}

/** No reply within the time that a call may take. */
const NO_REPLY: StoreFailure = {
  kind: "failed",
  reason: "slow",
  detail: "no reply within a second",
};

/** An error of the client as a value. */
function storeFailure(error: unknown): StoreFailure {
  if (error instanceof ErrorReply) {
    return refusal(error.message);
  }
  if (error instanceof z.ZodError) {
    const [issue] = error.issues;
    const at = issue === undefined || issue.path.length === 0 ? "" : ` at ${issue.path.join(".")}`;
    return { kind: "failed", reason: "unusable", detail: `unexpected reply: ${issue?.message}${at}` };
  }
  const code = codeOf(error);
  const detail = code === null ? "the connection was closed" : connectionDetail(code);
  return { kind: "failed", reason: "away", detail };
}

/** Whether the server replied with this error. */
function isReply(error: unknown, code: string): error is ErrorReply {
  return error instanceof ErrorReply && error.message.startsWith(`${code} `);
}

const LONGEST_DETAIL = 200;
const REFUSALS: Readonly<Record<string, string>> = {
  READONLY: "it is a read-only replica",
  OOM: "it is out of memory",
  MISCONF: "it cannot save to its disk and refuses writes",
  LOADING: "it is loading its data",
  BUSY: "it is busy with a script",
  NOAUTH: "it requires a password",
  WRONGPASS: "user or password are wrong",
  MASTERDOWN: "it is a replica without its primary",
  CLUSTERDOWN: "its cluster is down",
  NOREPLICAS: "it has too few replicas to accept writes",
  MOVED: "it is a cluster node that does not hold these keys",
};

const NO_PERMISSION =
  "the user lacks a permission: keys synclag:*, commands EVAL, EVALSHA, SET and those of the scripts";

/** An error of the server begins with its code; the code of a command within a script is in the middle of the text. */
function refusal(message: string): StoreFailure {
  const codes: readonly string[] = message.match(/\b[A-Z]{3,}\b/g) ?? [];
  const detail = codes.map((code) => REFUSALS[code]).find((text) => text !== undefined);
  if (detail !== undefined) {
    return { kind: "failed", reason: "refused", detail };
  }
  const ofScript = codes.includes("NOPERM")
    ? NO_PERMISSION
    : `it answers: ${message.slice(0, LONGEST_DETAIL)}`;
  return { kind: "failed", reason: "unusable", detail: ofScript };
}

/** For people: the address without user and password. */
function storeName({ host, port, isEncrypted, database }: StoreAddress): string {
  const shownHost = host.includes(":") ? `[${host}]` : host;
  return `${isEncrypted ? "rediss" : "redis"}://${shownHost}:${port}${database === 0 ? "" : `/${database}`}`;
}
