import { describe, expect, it } from "vitest";
import { runCli } from "../../src/cli.ts";
import type { HistoryJson } from "../../src/views/api/api-schema.ts";
import { commandWorld } from "../support/command-world.ts";

describe("synclag demo", () => {
  it("serves page, metrics and API of the played fleet, and stops cleanly", async () => {
    const { world, printed } = commandWorld({ THEGRAPH_API_KEY: "deadbeefdeadbeefdeadbeefdeadbeef" });
    const listeners = new Map<string, () => void>();
    let tell: (line: string) => void = () => undefined;
    const firstStep = new Promise<string>((resolve) => {
      tell = resolve;
    });

    const running = runCli(["node", "synclag", "demo", "--scenario", "calm", "--listen", "127.0.0.1:0"], {
      ...world,
      onSignal: (signal, listener) => listeners.set(signal, listener),
      out: (line) => {
        world.out(line);
        if (line.startsWith("00:00")) {
          tell(line);
        }
      },
    });
    const said = await firstStep;
    const url = /^ {2}page {5}(\S+)$/m.exec(printed.out[0] ?? "")?.[1] ?? "";
    const page = await fetch(url);
    const metrics = await (await fetch(new URL("/metrics", url))).text();
    const status = await (await fetch(new URL("/api/v1/status", url))).json();
    const past = await (await fetch(new URL("/api/v1/incidents", url))).text();
    const { timestamps } = (await (
      await fetch(new URL("/api/v1/history/airdrops/base", url))
    ).json()) as HistoryJson;
    listeners.get("SIGINT")?.();

    expect(await running).toBe(0);
    expect(said).toBe("00:00  Everything is and stays healthy");
    expect(page.status).toBe(200);
    // It has no digest, so that no `check` takes the demo for the daemon of its configuration.
    expect(status).toMatchObject({ config_digest: null });
    expect(metrics).toMatch(
      /^synclag_up\{protocol="airdrops",variant="multichain",tier="production",chain="base"/m,
    );
    expect(printed.out[0]).toMatch(/^Synclag watches 30 chains and 3 protocols at \d+ endpoints/);
    // A day that the daemon ran in virtual time.
    expect(printed.out[0]).toContain("The 24 hours before were played in virtual time");
    // As `/api/v1/incidents` has them.
    const { incidents } = JSON.parse(past) as { incidents: { detail: string; until: string | null }[] };
    expect(incidents.filter(({ until }) => until !== null).map(({ detail }) => detail)).toEqual(
      expect.arrayContaining([
        "airdrops/polygon/subgraph/testing is diverged",
        "6 of 6 targets of chain arbitrum-sepolia have stopped because the chain has halted",
        "21 of 21 targets of airdrops/multichain/production are lagging",
        "26 of 26 targets of lockup/subgraph/production reject our requests",
        expect.stringMatching(/^lockup\/base\/subgraph is (stalled|lagging)$/),
      ]),
    );
    expect((timestamps.at(-1) ?? 0) - (timestamps[0] ?? 0)).toBeGreaterThan(23 * 3_600);
    expect([...printed.out, ...printed.err].join("\n")).not.toContain("deadbeef");
  });
});
