import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { runCli } from "../../src/cli.ts";
import { commandWorld } from "../support/command-world.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

/*
 * Recordings of fleets in which an earlier rule was wrong, and the statuses that are right in each minute. The first source, v0, is right in all
 * but `overtaken`, `dip` and `dip-minute`; a source is as late as its recording says.
 */

const FOLDER = "test/fixtures/recordings";

/** The statuses at one minute of a recording. */
interface Said {
  readonly minute: number;
  readonly hasReference: boolean;
  readonly statuses: readonly string[];
  readonly lagSeconds: readonly (number | null)[];
  readonly lagBlocks: readonly (number | null)[];
}

const EXPECTED: Readonly<Record<string, (said: readonly Said[]) => void>> = {
  "three-apart": areApart,
  "three-apart-undated": areApart,
  "three-slow": (said) => {
    isAlwaysOk(said, 0);
    expect(
      between(said, 75, 120).every(({ statuses: [, v1, v2] }) => v1 === "lagging" && v2 === "lagging"),
    ).toBe(true);
  },
  finals: areFinal,
  "finals-undated": areFinal,
  restarted: (said) => {
    isAlwaysOk(said, 0);
    const climbing = between(said, 53, 74).flatMap(({ statuses }) => statuses.slice(1));
    expect(climbing.filter((status) => status !== "lagging" && status !== "syncing")).toEqual([]);
  },
  faster: (said) => {
    expect(said.flatMap(({ statuses }) => statuses).filter((status) => status !== "ok")).toEqual([]);
  },
  overtaken: (said) => {
    const [at] = between(said, 107, 107);
    expect(at?.statuses).toEqual(["stalled", "ok"]);
    expect(at?.lagSeconds[0]).toBeGreaterThan(66 * 60);
    expect(at?.lagSeconds[0]).toBeLessThan(68 * 60);
  },
  rare: (said) => {
    for (const source of [0, 1, 2]) {
      isAlwaysOk(said, source);
    }
    expect(Math.max(...said.map(({ lagSeconds }) => Number(lagSeconds[2])))).toBeLessThan(90);
  },
  backlog: (said) => {
    expect(said.every(({ hasReference }) => hasReference)).toBe(true);
    expect(said.flatMap(({ statuses }) => statuses)).not.toContain("lagging");
  },
  // Low replies at 300, 330 and 360 minutes.
  dip: (said) => {
    expect(between(said, 390 + 3 * 30, 1_200).every(({ statuses }) => statuses[2] === "ok")).toBe(true);
  },
  "dip-minute": (said) => {
    expect(said.some(({ statuses }) => statuses[2] === "lagging")).toBe(true);
    expect(between(said, 90 + 3, 240).every(({ statuses }) => statuses[2] === "ok")).toBe(true);
  },
};

describe("the recordings in test/fixtures/recordings", () => {
  it("all have an expected result", () => {
    expect(readdirSync(FOLDER).toSorted()).toEqual(Object.keys(EXPECTED).toSorted());
  });

  it.each(Object.entries(EXPECTED))("%s", async (name, expectRight) => {
    expectRight(await replay(name));
  });
});

function areApart(said: readonly Said[]): void {
  for (const source of [0, 1, 2]) {
    isAlwaysOk(said, source);
  }
  for (const { lagSeconds } of between(said, 5, 120)) {
    expect(Math.abs(Number(lagSeconds[1]) - 180)).toBeLessThan(20);
    expect(Math.abs(Number(lagSeconds[2]) - 360)).toBeLessThan(20);
  }
}

/** Two follow final blocks of a chain with a block in 12 s: they are 64 to 95 blocks behind the one at the tip. */
function areFinal(said: readonly Said[]): void {
  isAlwaysOk(said, 0);
  for (const { lagBlocks, lagSeconds, statuses } of between(said, 10, 120)) {
    expect(statuses.slice(1)).toEqual(["lagging", "lagging"]);
    for (const [index, seconds] of lagSeconds.slice(1).map(Number).entries()) {
      expect(seconds).toBeGreaterThan(12 * 60);
      expect(seconds).toBeLessThan(19.5 * 60);
      expect(Math.abs(seconds / Number(lagBlocks[index + 1]) - 12)).toBeLessThan(1);
    }
  }
}

function isAlwaysOk(said: readonly Said[], source: number): void {
  expect(said.filter(({ hasReference, statuses }) => !hasReference || statuses[source] !== "ok")).toEqual([]);
}

function between(said: readonly Said[], from: number, to: number): readonly Said[] {
  return said.filter(({ minute }) => minute >= from && minute <= to);
}

async function replay(name: string): Promise<readonly Said[]> {
  await using folder = await temporaryFolder();
  const file = join(folder.path, "recording.jsonl");
  writeFileSync(file, gunzipSync(readFileSync(join(FOLDER, name, "recording.jsonl.gz"))));
  const { printed, world } = commandWorld({});
  const config = join(FOLDER, name, "chains.yaml");
  const flags = ["--config", config, "--every", "1m", "--format", "json"];
  expect(await runCli(["node", "synclag", "replay", file, ...flags], world)).toBe(0);
  return printed.out.map((line, minute): Said => {
    const { reference, targets } = JSON.parse(line) as {
      readonly reference: object | null;
      readonly targets: readonly {
        readonly status: string;
        readonly lag_seconds: number | null;
        readonly lag_blocks: number | null;
      }[];
    };
    return {
      minute,
      hasReference: reference !== null,
      statuses: targets.map(({ status }) => status),
      lagSeconds: targets.map(({ lag_seconds: seconds }) => seconds),
      lagBlocks: targets.map(({ lag_blocks: blocks }) => blocks),
    };
  });
}
