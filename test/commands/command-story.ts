import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, isAbsolute, join } from "node:path";
import { parse } from "yaml";
import type { CommandWorld } from "../../src/commands/command-world.ts";
import { parseConfig } from "../../src/config/parse.ts";
import { isoTime } from "../../src/core/model/text.ts";
import type { ServerKind } from "../../src/sim/servers/families.ts";
import { edited } from "../support/edited.ts";
import { faultNamed } from "../support/faults.ts";
import { startFleet } from "../support/fleet.ts";
import { serve } from "../support/listener.ts";
import { holdAsAnother } from "../support/lock-holder.ts";
import { startRespServer } from "../support/resp-server.ts";
import { startScenario } from "../support/scenario.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { runCommand } from "./run-command.ts";

interface Server {
  readonly url: string;
  /** The requests since the last look. */
  readonly asked: string[];
  readonly fail?: (fault: string) => void | Promise<void>;
}

type Happening = (words: readonly string[], text: string) => unknown;
type Saying = (words: readonly string[], text: string) => string | Promise<string>;

const FLEET = readFileSync("test/fixtures/cli/chains.yaml", "utf8");
const LAGGING = await statusOfLaggingFleet();
const CONTROL = /[^\n\P{Cc}]/gu;

/** Commands, typed line by line in a folder of their own; test/STORIES.md has every verb of `cli`. */
export class CommandStory implements AsyncDisposable {
  readonly #started: (Disposable | AsyncDisposable)[] = [];
  readonly #servers = new Map<string, Server>();
  readonly #env: Record<string, string> = {};
  readonly #secrets: string[] = [];
  readonly #answers = new Map<string, (readonly [pattern: RegExp, reply: string])[]>();
  #world: Partial<CommandWorld> = {};
  #folder = "";
  #file = "";

  async do(line: string): Promise<readonly string[]> {
    if (this.#folder === "") {
      this.#folder = this.#use(await temporaryFolder()).path;
      this.#write("chains.yaml", FLEET);
    }
    const [verb = "", ...words] = this.#filledIn(line).split(" ");
    const text = words.join(" ");
    const say = this.#says[verb];
    if (say !== undefined) {
      return this.#shown(await say(words, text)).split("\n");
    }
    const happen = this.#happens[verb];
    if (happen === undefined) {
      throw new RangeError(`Cannot do ${verb}: test/STORIES.md has the verbs`);
    }
    await happen(words, text);
    return [];
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const one of this.#started.toReversed()) {
      await (Symbol.dispose in one ? one[Symbol.dispose]() : one[Symbol.asyncDispose]());
    }
  }

  #use<T extends Disposable | AsyncDisposable>(started: T): T {
    this.#started.push(started);
    return started;
  }

  readonly #happens: Readonly<Record<string, Happening>> = {
    file: ([name = "", path]) =>
      this.#write(name, path === undefined ? "" : this.#filledIn(readFileSync(path, "utf8"))),
    "|": (_, text) => this.#write(this.#file, `${readFileSync(this.#path(this.#file), "utf8")}${text}\n`),
    edit: (_, text) => {
      this.#write(this.#file, edited(readFileSync(this.#path(this.#file), "utf8"), text));
    },
    fifo: ([name = ""]) => execFileSync("mkfifo", [this.#path(name)]),
    link: ([name = "", file = ""]) => symlinkSync(file, this.#path(name)),
    env: (words) => {
      for (const [, name = "", value = ""] of words.map((word) => /^(\w+)=(.*)$/.exec(word) ?? [])) {
        this.#env[name] = value;
      }
    },
    at: ([time = ""]) => Object.assign(this.#world, { nowMs: () => Date.parse(time), uptimeMs: () => 0 }),
    world: (_, text) => {
      this.#world = { ...this.#world, ...(parse(text) as Partial<CommandWorld>) };
    },
    server: async (words) => {
      const endpoints = Array.from({ length: Math.ceil(words.length / 4) }, (_, index) => {
        const [key = "", kind, chains = "base", path] = words.slice(4 * index);
        const spec = { key, kind: kind as ServerKind, chains: chains.split(",") };
        return path === undefined ? spec : { ...spec, path };
      });
      const fleet = this.#use(await startFleet({ nowMs: this.#world.nowMs ?? Date.now, endpoints }));
      for (const { key } of endpoints) {
        const endpoint = fleet.endpoint(key);
        const fail = async (fault: string) => {
          if (fault === "refused") {
            await Promise.all(fleet.origins.map((origin) => origin.close()));
          } else {
            endpoint.fail(faultNamed(fault));
          }
        };
        this.#servers.set(key, { url: endpoint.url, asked: [], fail });
      }
    },
    fail: ([name = "", fault = ""]) => this.#server(name).fail?.(fault),
    node: async ([name = ""]) => {
      const asked: string[] = [];
      const answers: (readonly [RegExp, string])[] = [];
      const server = this.#use(
        await serve((request, response) => {
          let body = "";
          request.setEncoding("utf8").on("data", (part: string) => {
            body += part;
          });
          request.on("end", () => {
            const { authorization = "" } = request.headers;
            const [, login = ""] = authorization.split("Basic ");
            const who = login === "" ? "" : ` as ${Buffer.from(login, "base64").toString()}`;
            const question = `${request.method} ${request.url}`;
            asked.push(`${question}${who}`);
            const found = answers.find(([pattern]) => pattern.test(`${question} ${body}`))?.[1] ?? "404";
            const reply = replyOf(found);
            if (reply === null) {
              request.socket.destroy();
              return;
            }
            response.writeHead(reply.status, reply.headers).end(reply.body);
          });
        }),
      );
      this.#servers.set(name, { url: server.url, asked });
      this.#answers.set(name, answers);
    },
    reply: ([name = ""], text) => {
      const [, pattern, reply = ""] = /^\S+ (.*?) => (.*)$/.exec(text) ?? [];
      if (pattern === undefined) {
        throw new RangeError(`Cannot find => in reply ${text}`);
      }
      this.#answers.get(name)?.push([new RegExp(pattern), reply]);
    },
    store: async ([name = ""]) => {
      const asked: string[] = [];
      const server = await startRespServer(([command]) => {
        asked.splice(0, 1, "some commands");
        return command === "EVAL" ? "-ERR no script of a test\r\n" : "+OK\r\n";
      });
      const { host, port } = this.#use(server).address;
      this.#servers.set(name, { url: `redis://${host}:${port}`, asked });
    },
    hold: async ([name = "", state = ""]) => {
      const url = this.#server(name).url.replace("127.0.0.1", "0.0.0.0");
      this.#use(await holdAsAnother(this.#path(state), url));
    },
  };

  readonly #says: Readonly<Record<string, Saying>> = {
    synclag: (_, text) => this.#run(text),
    until: ([pattern = "", , ...words]) => this.#run(words.join(" "), new RegExp(pattern)),
    together: async ([count = "", , ...words]) => {
      const all = await Promise.all(Array.from({ length: Number(count) }, () => this.#run(words.join(" "))));
      return all.toSorted().join("\n");
    },
    asked: ([name = "", once]) => {
      const asked = this.#server(name).asked.splice(0).toSorted();
      return (once === "once" ? [...new Set(asked)] : asked).join("\n") || "nothing";
    },
    cat: ([name = ""]) => readFileSync(this.#path(name), "utf8").trimEnd(),
    ls: () => readdirSync(this.#folder).toSorted().join(" "),
    secrets: () => this.#secrets.join(" "),
  };

  /** A daemon that starts is stopped at once, or after its first output that matches. */
  async #run(text: string, until = /^/): Promise<string> {
    let stop: () => void = () => undefined;
    let isDone = until.test("");
    const [typed = "", pattern] = text.split(/ \| (.*)/);
    const args = [...typed.matchAll(/'([^']*)'|\S+/g)].map(([all, quoted]) => quoted ?? all);
    const { exitCode, out, err } = await runCommand(args, this.#env, (world) => ({
      readFile: (path) => world.readFile(this.#path(path)),
      listFiles: (folder, names) => world.listFiles(this.#path(folder), names),
      onSignal: (signal, listener) => {
        if (signal === "SIGINT") {
          stop = listener;
          if (isDone) {
            setImmediate(stop);
          }
        }
      },
      out: (line) => {
        world.out(line);
        if (!isDone && until.test(line)) {
          isDone = true;
          setImmediate(stop);
        }
      },
      keepSecret: (texts) => {
        this.#secrets.push(...texts.filter((one) => !this.#secrets.includes(one)));
        world.keepSecret(texts);
      },
      ...this.#world,
    }));
    const lines = [out, err].filter((one) => one !== "").flatMap((one) => one.split("\n"));
    const wanted = pattern === undefined ? lines : lines.filter((one) => new RegExp(pattern).test(one));
    return [...wanted, `exit code ${exitCode}`].join("\n");
  }

  #server(name: string): Server {
    const server = this.#servers.get(name);
    if (server === undefined) {
      throw new RangeError(`Cannot find server ${name}`);
    }
    return server;
  }

  #path(name: string): string {
    return isAbsolute(name) ? name : join(this.#folder, name);
  }

  #write(name: string, text: string): void {
    this.#file = name;
    mkdirSync(dirname(this.#path(name)), { recursive: true });
    writeFileSync(this.#path(name), text);
  }

  #filledIn(line: string): string {
    return line
      .replaceAll(/\\x([0-9a-f]{2})/g, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)))
      .replaceAll(/<([\w-]+)(:host)?>/g, (_, name: string, host: string | undefined) => {
        if (name === "digest") {
          return this.#digest();
        }
        const url = name === "folder" ? this.#folder : this.#server(name).url;
        return host === undefined ? url : new URL(url).host;
      });
  }

  #digest(): string {
    const file = this.#path("chains.yaml");
    const readFile = (path: string) => readFileSync(path, "utf8");
    return parseConfig(readFile(file), { file, env: this.#env, readFile }).fleet.digest ?? "";
  }

  /** Replaces what differs each time: the folder, ports, durations, and a resolver's code. */
  #shown(text: string): string {
    let shown = text.replaceAll(this.#folder, "<folder>");
    for (const [name, { url }] of this.#servers) {
      shown = shown.replaceAll(new URL(url).host, `${name}.example`);
    }
    return shown
      .replaceAll(/(answered in |"took_ms": |\(pid )[\d.]+/g, "$10")
      .replaceAll(/(Page: http:\/\/127\.0\.0\.1:)\d+/g, "$10")
      .replaceAll(/getaddrinfo \w+/g, "getaddrinfo")
      .replaceAll(CONTROL, (one) => `\\x${one.charCodeAt(0).toString(16).padStart(2, "0")}`);
  }
}

/** Null: no reply, the connection ends. */
function replyOf(text: string) {
  const [, status = "200", kind = "", rest = ""] =
    /^(?:(\d{3})\b ?)?(?:(status|hangup|file:|to)(?: |$|(?<=:)))?(.*)$/.exec(text) ?? [];
  const headers = kind === "to" ? { location: rest } : {};
  const texts: Readonly<Record<string, () => string>> = {
    status: () => statusWith(rest),
    "file:": () => readFileSync(rest, "utf8"),
  };
  return kind === "hangup" ? null : { status: Number(status), headers, body: texts[kind]?.() ?? rest };
}

/** The report has the present time, unless a change replaces it. */
function statusWith(change: string): string {
  const changes = change.split(" ;; ").filter((one) => one !== "");
  return changes.reduce(
    (status, one) => {
      const [old = "", next = ""] = one.split(/ => ?/);
      if (!new RegExp(old).test(status)) {
        throw new RangeError(`Cannot find ${old} in the status`);
      }
      return status.replaceAll(new RegExp(old, "g"), next);
    },
    LAGGING.replace(/(?<="generated_at":")[^"]*/, isoTime(Date.now())),
  );
}

/** The reply of a daemon whose lockup subgraph on base is 41 minutes behind, while everything else is ok. */
async function statusOfLaggingFleet(): Promise<string> {
  await using play = await startScenario(readFileSync("test/fixtures/cli/daemon.yaml", "utf8"));
  play.fleet.target("lockup/subgraph/production/base").set({ lagBlocks: 1_230 });
  await play.run("2m");
  return JSON.stringify(play.report());
}
