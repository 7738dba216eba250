import { createClient, ErrorReply } from "@redis/client";
import { z } from "zod";
import type { StoreAddress, StoreSettings } from "../../config/config.ts";
import { hostAndPort } from "../../core/model/text.ts";
import { codeOf, connectionDetail } from "../http-client/failure.ts";
import type { World } from "../world.ts";
import { NOT_CONNECTED, type StoreFailure, type StoreReply, type StoreScript } from "./store-script.ts";

type StoreWorld = Pick<World, "logger" | "random">;
type Client = ReturnType<typeof createClientFor>;

const CALL_MS = 1_000;
const PROBE_LIFETIME_MS = 60_000;
const FIRST_DELAY_MS = 100;
const LONGEST_DELAY_MS = 2_000;
const LONGEST_DETAIL = 200;

/** The part of a store that its users need. */
export type ScriptRunner = Pick<RedisStore, "run">;

/**
 * A connection to Redis or Valkey that is made again when it breaks, with pauses of 0.05 to 2 s between attempts.
 *
 * No call waits for a connection, and none waits longer than a second for a reply. If no reply comes in time, or the server
 * refuses to write, the connection is closed: the host name may resolve to another server by now.
 */
export class RedisStore implements AsyncDisposable {
  /** For people: the address without user and password. */
  readonly name: string;
  readonly #settings: StoreSettings;
  readonly #world: StoreWorld;
  /** Null without a connection that can write. */
  #client: Client | null = null;
  /** Why there is no connection. */
  #problem: string | null = null;
  /** Keys on which the last script of this connection failed, and why. */
  readonly #unusable = new Map<string, string>();
  #isClosing = false;
  #timer: NodeJS.Timeout | undefined;
  #connecting: Promise<void> = Promise.resolve();

  private constructor(settings: StoreSettings, world: StoreWorld) {
    this.name = storeName(settings.address);
    this.#settings = settings;
    this.#world = world;
  }

  /** Starts to connect. Waits at most a second for the first attempt, which may fail. */
  static async open(settings: StoreSettings, world: StoreWorld): Promise<RedisStore> {
    const store = new RedisStore(settings, world);
    await store.#connect(FIRST_DELAY_MS);
    return store;
  }

  /** Whether there is a connection, and the last script on each key succeeded. */
  isUp(): boolean {
    return this.#client !== null && this.#unusable.size === 0;
  }

  /** Runs a script on keys of this fleet, which are given without their common prefix, and parses its reply. */
  async run<Value>(
    script: StoreScript<Value>,
    keys: readonly string[],
    args: readonly (string | number)[],
  ): Promise<StoreReply<Value>> {
    const client = this.#client;
    if (client === null) {
      return NOT_CONNECTED;
    }
    const names = keys.map((key) => this.#key(key));
    const command = ["EVAL", script.lua, String(keys.length), ...names, ...args.map(String)];
    const reply = await withinTime(async () => script.reply.parse(await client.sendCommand(command)));
    // If there are several keys, the first is the lease, and the last is the one that the script is about.
    const key = this.#key(keys.at(-1) ?? "");
    if (reply.kind === "reply") {
      this.#unusable.delete(key);
    } else if (reply.reason === "away") {
      this.#drop(client, reply.detail);
    } else if (this.#unusable.get(key) !== reply.detail) {
      this.#unusable.set(key, reply.detail);
      const fields = { store: this.name, key, detail: reply.detail };
      this.#world.logger.warn(fields, "The store cannot be used for this key");
    }
    return reply;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosing = true;
    clearTimeout(this.#timer);
    await this.#connecting;
    destroy(this.#client);
    this.#client = null;
  }

  /** Tries to connect; if that fails, tries again after `delayMs`. */
  async #connect(delayMs: number): Promise<void> {
    const client = createClientFor(this.#settings.address);
    client.on("error", (error) => this.#drop(client, storeFailure(error).detail));
    const probe = ["SET", this.#key("probe"), "1", "PX", String(PROBE_LIFETIME_MS)];
    const reply = await withinTime(async () => {
      await client.connect();
      // Tries a write: only reads succeed on a read-only Redis server, with a full memory, or without the permission to write.
      await client.sendCommand(probe);
    });
    if (reply.kind === "failed") {
      destroy(client);
      this.#remember(reply.detail);
      this.#connectLater(delayMs);
    } else {
      this.#client = client;
      this.#unusable.clear();
      this.#remember(null);
    }
  }

  #connectLater(delayMs: number): void {
    if (!this.#isClosing) {
      this.#timer = setTimeout(
        () => {
          this.#connecting = this.#connect(Math.min(2 * delayMs, LONGEST_DELAY_MS));
        },
        delayMs * (1 - this.#world.random() / 2),
      );
    }
  }

  #drop(client: Client, detail: string): void {
    if (client === this.#client) {
      this.#client = null;
      destroy(client);
      this.#remember(detail);
      this.#connectLater(FIRST_DELAY_MS);
    }
  }

  /** Keeps why there is no connection, and logs a change. */
  #remember(problem: string | null): void {
    const { logger } = this.#world;
    if (problem !== null && problem !== this.#problem) {
      logger.warn({ store: this.name, detail: problem }, "Store unreachable");
    }
    if (problem === null && this.#problem !== null) {
      logger.info({ store: this.name }, "Store reachable again");
    }
    this.#problem = problem;
  }

  /** The braces keep all keys of a fleet on one node of a Redis cluster. */
  #key(key: string): string {
    return `synclag:{${this.#settings.cluster}}:${key}`;
  }
}

function createClientFor({ host, port, isEncrypted, ...address }: StoreAddress) {
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
    // `withinTime` limits the time of a call and its reply.
    commandOptions: { timeout: 0 },
  });
}

async function withinTime<Value>(call: () => Promise<Value>): Promise<StoreReply<Value>> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<StoreFailure>((resolve) => {
    // If this process was suspended, the reply may already have arrived: it is read before the immediate runs.
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

const NO_REPLY: StoreFailure = { kind: "failed", reason: "away", detail: "no reply within a second" };
/** Errors of a server that accepts no writes. The code is not at the beginning of the text if a script ran the command. */
const NO_WRITES =
  /\b(READONLY|OOM|MISCONF|LOADING|BUSY|NOAUTH|WRONGPASS|MASTERDOWN|CLUSTERDOWN|NOREPLICAS|MOVED)\b/;
const OF_A_VALUE = /\b(WRONGTYPE|unusable)\b/;

/** An error of the client as a value. */
function storeFailure(error: unknown): StoreFailure {
  if (error instanceof ErrorReply) {
    const detail = `the store replies: ${error.message.slice(0, LONGEST_DETAIL)}`;
    const reason = OF_A_VALUE.test(error.message) ? "unusable" : "refused";
    return { kind: "failed", reason: NO_WRITES.test(error.message) ? "away" : reason, detail };
  }
  if (error instanceof z.ZodError) {
    return { kind: "failed", reason: "unusable", detail: `unexpected reply: ${z.prettifyError(error)}` };
  }
  const code = codeOf(error);
  const detail = code === null ? "the connection was closed" : connectionDetail(code);
  return { kind: "failed", reason: "away", detail };
}

/** For people: the address without user and password. */
function storeName({ isEncrypted, database, ...address }: StoreAddress): string {
  const protocol = isEncrypted ? "rediss" : "redis";
  return `${protocol}://${hostAndPort(address)}${database === 0 ? "" : `/${database}`}`;
}
