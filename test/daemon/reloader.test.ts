import { describe, expect, it } from "vitest";
import type { Config } from "../../src/config/config.ts";
import { configErrorIn } from "../../src/config/yaml/config-error.ts";
import { Reloader } from "../../src/daemon/reloader.ts";
import { recordLog } from "../support/log-recorder.ts";
import { worldOf } from "../support/world-of.ts";

const MISTAKE = configErrorIn("chains.yaml", {
  problems: [{ line: 7, column: 3, path: ["chains"], message: "Cannot find chain 'bsae'" }],
});

describe("Reloader.reload()", () => {
  it("goes over to a good configuration, and says so", async () => {
    const { reloader, applied, clock, lines } = setUp();
    clock.nowMs = 5_000;

    const verdict = await reloader.reload();

    expect(verdict).toEqual({ kind: "reloaded", detail: "Reloaded chains.yaml" });
    expect(applied).toHaveLength(1);
    expect(reloader.state).toEqual({ successful: true, lastSuccessMs: 5_000 });
    expect(lines).toMatchObject([{ level: 30, msg: "Reloaded" }]);
  });

  it("changes nothing for a bad one, says why, and remembers when it last went well", async () => {
    const { reloader, applied, clock, files, lines } = setUp();
    files.push(MISTAKE);
    clock.nowMs = 5_000;

    const verdict = await reloader.reload();

    expect(verdict).toEqual({ kind: "failed", detail: MISTAKE.message });
    expect(applied).toEqual([]);
    expect(reloader.state).toEqual({ successful: false, lastSuccessMs: 1_000 });
    expect(lines).toMatchObject([{ level: 50, detail: MISTAKE.message }]);
  });

  it("warns of what a good one skips, and of what it cannot change", async () => {
    const { reloader, files, lines } = setUp();
    files.push({ ...CONFIG, listen: { host: "127.0.0.1", port: 9856 }, warnings: ["a/b/c is skipped"] });

    await reloader.reload();

    expect(lines.slice(1)).toMatchObject([
      { level: 40, msg: "Configuration warning", detail: "a/b/c is skipped" },
      { level: 40, detail: "listen 127.0.0.1:9856 takes effect at the next start" },
    ]);
  });

  it("is well again with the next good one", async () => {
    const { reloader, files } = setUp();
    files.push(MISTAKE);

    await reloader.reload();
    await reloader.reload();

    expect(reloader.state.successful).toBe(true);
  });

  it("reloads one at a time, in the order asked", async () => {
    const { reloader, events } = setUp();

    await Promise.all([reloader.reload(), reloader.reload(), reloader.reload()]);

    expect(events).toEqual([
      "read",
      "apply",
      "applied",
      "read",
      "apply",
      "applied",
      "read",
      "apply",
      "applied",
    ]);
  });

  it("hands a bug to whoever asked, and not to the next", async () => {
    const { reloader, files } = setUp();
    files.push(new TypeError("bug"));

    const first = reloader.reload();
    const second = reloader.reload();

    await expect(first).rejects.toThrow("bug");
    expect(await second).toMatchObject({ kind: "reloaded" });
  });
});

function setUp() {
  const { logger, lines } = recordLog();
  const clock = { nowMs: 1_000 };
  /** What the next readings throw or bring; a good file after that. */
  const files: (Error | Config)[] = [];
  const applied: Config[] = [];
  const events: string[] = [];
  const reloader = new Reloader({
    world: worldOf({
      nowMs: () => clock.nowMs,
      logger,
      loadConfig: () => {
        events.push("read");
        const file = files.shift() ?? CONFIG;
        if (file instanceof Error) {
          throw file;
        }
        return file;
      },
    }),
    listen: CONFIG.listen,
    apply: async (config) => {
      events.push("apply");
      await new Promise((resolve) => setImmediate(resolve));
      applied.push(config);
      events.push("applied");
    },
  });
  return { reloader, lines, clock, files, applied, events };
}

const CONFIG: Config = {
  file: "chains.yaml",
  listen: { host: "127.0.0.1", port: 0 },
  poll: { concurrency: 1, perHost: 1, timeoutMs: 1, retries: 0, maxResponseBytes: 1 },
  fleet: { chains: [], indexers: [], rpcEndpoints: [], budgets: [], skipped: [], parity: [] },
  maintenance: [],
  warnings: [],
  secrets: [],
  variables: [],
};
