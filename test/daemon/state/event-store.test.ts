import { appendFileSync, readFileSync, writeFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { EventStore, eventsPathOf } from "../../../src/daemon/state/event-store.ts";
import { recordLog } from "../../support/log-recorder.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { fleetReport } from "../../views/fleet-report.ts";

const NOW_MS = Date.parse("2026-11-20T03:00:00Z");

async function open(stateFile: string) {
  const { logger, lines } = recordLog();
  const store = await EventStore.open({ stateFile, logger, nowMs: () => NOW_MS, uptimeMs: () => 0 });
  return { store, lines };
}

describe("the events file", () => {
  it("is continued by the next process, without a line that a kill truncated", async () => {
    await using folder = await temporaryFolder();
    const stateFile = `${folder.path}/state.json`;
    {
      const { store } = await open(stateFile);
      store.started("synclag", null);
      await store[Symbol.asyncDispose]();
    }
    appendFileSync(eventsPathOf(stateFile), '{"time":"2026-11-20T03:0');

    const { store, lines } = await open(stateFile);
    store.started("synclag", NOW_MS + 60_000);
    await store[Symbol.asyncDispose]();
    const next = await open(stateFile);
    await next.store[Symbol.asyncDispose]();

    expect(lines.map(({ msg, invalid, kept }) => [msg, invalid, kept])).toEqual([
      ["Events file: dropped invalid lines", 1, 1],
    ]);
    expect(next.lines).toEqual([]);
    expect(next.store.log.all().map(({ to, unwatched_since }) => [to, unwatched_since])).toEqual([
      ["started", null],
      ["started", "2026-11-20T03:01:00.000Z"],
    ]);
    expect(readFileSync(eventsPathOf(stateFile), "utf8").trimEnd().split("\n")).toHaveLength(2);
  });

  it("has the events of the reports", async () => {
    await using folder = await temporaryFolder();
    const stateFile = `${folder.path}/state.json`;
    const { store } = await open(stateFile);
    const noted = store.note(fleetReport(), true);
    await store[Symbol.asyncDispose]();

    const next = await open(stateFile);
    await next.store[Symbol.asyncDispose]();

    expect(noted.length).toBeGreaterThan(0);
    expect(next.store.log.all()).toEqual(store.log.all());
  });

  it("keeps the readable part of a damaged file, and logs how much was lost", async () => {
    await using folder = await temporaryFolder();
    const stateFile = `${folder.path}/state.json`;
    const line = '{"time":"2026-11-20T01:00:00.000Z","kind":"pair","subject":"airdrops/base","to":"down"}';
    writeFileSync(eventsPathOf(stateFile), `${line}\nnonsense\n{"kind":"status"}\n${line}\n`);

    const { store, lines } = await open(stateFile);
    await store[Symbol.asyncDispose]();

    expect(store.log.size).toBe(2);
    expect(lines).toMatchObject([{ invalid: 2, kept: 2 }]);
  });

  it("continues without a file if the disk refuses, and logs it", async () => {
    await using folder = await temporaryFolder();
    const { store, lines } = await open(`${folder.path}/missing/state.json`);
    store.started("synclag", null);
    await store[Symbol.asyncDispose]();

    expect(store.log.size).toBe(1);
    expect(lines).toMatchObject([{ msg: "Cannot write the events file" }]);
  });
});
