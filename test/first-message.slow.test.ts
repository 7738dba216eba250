import { appendFileSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { expect, it, vi } from "vitest";
import { startFleet } from "./support/fleet.ts";
import { serve } from "./support/listener.ts";
import { runSynclag, startSynclag } from "./support/synclag-process.ts";
import { temporaryFolder } from "./support/temporary-folder.ts";

/** What each receiver documents: the type of the body, and its shape. Any other request is refused. */
const RECEIVERS = {
  json: [
    "application/json",
    /^\{"version":1,"event":"incident_\w+","id":".*","text":".*","incident":\{.*\}\}$/,
  ],
  slack: ["application/json", /^\{"text":"[^"<>]+"\}$/],
  discord: ["application/json", /^\{"content":"[^"]{1,2000}","allowed_mentions":\{"parse":\[\]\}\}$/],
  telegram: [
    "application/json",
    /^\{"chat_id":"-1007","text":"[^"]{1,4096}","link_preview_options":\{.*\}\}$/,
  ],
  text: ["text/plain; charset=utf-8", /^Incident [^"{}]+$/],
} as const;
const FORMATS = Object.keys(RECEIVERS) as (keyof typeof RECEIVERS)[];
const WAIT = { timeout: 60_000, interval: 200 };

// In virtual time, with the defaults: test/fixtures/daemon-stories/notify.txt.
it("posts two messages about one Envio that stops and comes back, from an empty folder, in three commands", async () => {
  await using fleet = await startFleet({
    nowMs: Date.now,
    endpoints: [{ kind: "envio", chains: ["arbitrum"] }],
  });
  const received = new Map<string, string[]>(FORMATS.map((format) => [format, []]));
  await using chats = await serve((request, response) => {
    void text(request).then((body) => {
      const format = request.url?.slice(1) as keyof typeof RECEIVERS;
      const [type, shape] = RECEIVERS[format];
      const isDocumented = request.headers["content-type"] === type && shape.test(body);
      received.get(format)?.push(isDocumented ? body : `refused: ${body}`);
      response.writeHead(isDocumented ? 200 : 400).end();
    });
  });
  const started: AsyncDisposable[] = [];
  await using _started = {
    async [Symbol.asyncDispose]() {
      for (const one of started.toReversed()) {
        await one[Symbol.asyncDispose]();
      }
    },
  };
  const pages = await Promise.all(
    FORMATS.map(async (format) => {
      const temporary = await temporaryFolder();
      const folder = temporary.path;
      const file = join(folder, "chains.yaml");
      const { exitCode } = await runSynclag(["init", fleet.endpoint("envio").url], { cwd: folder });
      expect(exitCode).toBe(0);
      const chat = format === "telegram" ? ", chat_id: '-1007'" : "";
      appendFileSync(
        file,
        `thresholds: { stalled: 1s }\nnotify: { url: "${chats.url}/${format}", format: ${format}${chat}, after: 0s }\n`,
      );
      // So that the test takes no minutes.
      writeFileSync(
        file,
        readFileSync(file, "utf8").replace(
          "dialect: envio",
          "dialect: envio\n      schedule: '*/2 * * * * *'",
        ),
      );
      const running = startSynclag(["run", "--listen", "127.0.0.1:0"], { cwd: folder });
      started.push(temporary, running);
      const [, url = ""] = await running.logged(/"url":"(http[^"]+)"/);
      return url;
    }),
  );
  /** Waits until the last message to each receiver has these words. */
  const untilTold = async (words: string) => {
    await vi.waitFor(() => {
      const others = [...received.values()].filter((all) => all.at(-1)?.includes(words) !== true);
      expect(others).toEqual([]);
    }, WAIT);
  };

  await vi.waitFor(async () => {
    for (const page of pages) {
      const { targets } = (await (await fetch(`${page}/api/v1/status`)).json()) as {
        targets: { last_advance: string | null }[];
      };
      expect(targets.map(({ last_advance: advance }) => advance)).not.toContain(null);
    }
  }, WAIT);
  fleet.targets("envio/*").forEach((target) => void target.freeze());
  await untilTold("Incident began: ");
  fleet.targets("envio/*").forEach((target) => void target.heal());
  await untilTold("Incident ended ");

  expect([...received.values()].map(({ length }) => length)).toEqual(FORMATS.map(() => 2));
}, 240_000);
