import { execFileSync, spawn } from "node:child_process";
import { appendFileSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { runCli } from "../../src/cli.ts";
import { chainReports, type TargetReport } from "../../src/core/model/report.ts";
import { openRecordingFile, type RecordingFile } from "../../src/io/recording-file.ts";
import { commandWorld } from "../support/command-world.ts";
import { cpuMsOf } from "../support/cpu-of.ts";
import { recordLog } from "../support/log-recorder.ts";
import { type Scenario, startScenario } from "../support/scenario.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const PROBES = 'probes: { campaigns: { query: "campaigns(first: 1) { id }", expect: rows, every: 1m } }';
const FLEET = readFileSync("test/fixtures/daemon-stories/restart.yaml", "utf8").replace(
  "variant: subgraph,",
  `variant: subgraph, ${PROBES},`,
);
const SUBGRAPH = "airdrops/subgraph/production/base";

describe("synclag replay", () => {
  it("reports for a recording what the daemon reported at the time, across a restart", async () => {
    await using play = await startScenario(FLEET);
    const live = await look(play, 5);
    play.fleet.target(SUBGRAPH).set({ freezeAtMs: Date.now() });
    live.push(...(await look(play, 13)));
    await play.restart({ state: "kept" });
    live.push(...(await look(play, 5)));
    play.fleet.target(SUBGRAPH).set({ freezeAtMs: null, says: { campaigns: 0 } });
    live.push(...(await look(play, 5)));
    await using folder = await temporaryFolder();
    const file = join(folder.path, "observations.jsonl");
    writeFileSync(file, textOf(play.recording));

    const { out } = await replayed([file], ["--every", "1m", "--format", "json"]);

    // A value that a source does not report is left out.
    expect(play.recording.filter((line) => line.includes("null"))).toEqual([]);
    const said = out.map((line) => {
      // Printed by the command itself.
      const { chain, reference, targets } = JSON.parse(line) as SaidLine;
      return momentOf(
        chain,
        reference?.block,
        targets.map(({ target, ...own }) => ({ key: target, ...own })),
      );
    });
    expect(said.slice(0, live.length)).toEqual(live);
    expect(live.join(" ")).toContain(`${SUBGRAPH} stalled`);
    expect(live.join(" ")).toContain(`${SUBGRAPH} failed`);
  });

  it("prints only the changes, as a table", async () => {
    await using folder = await temporaryFolder();
    const file = await recordStall(folder.path);

    const { out, exitCode } = await replayed([file], ["--chain", "base"]);

    expect(exitCode).toBe(0);
    expect(out).toEqual([
      expect.stringMatching(
        /^2026-11-20T03:1\d:\d\d\.\d{3}Z {2}airdrops\/subgraph\/production\/base {2}ok → stalled {2}has not advanced/,
      ),
    ]);
  });

  it.each([
    { line: '{"source":"airdrops/subgraph/production/base","kind":"head"}', says: "sent: " },
    { line: '{"source":"x","sent":1,"received":1,"kind":"missing"}', says: 'unknown source "x"' },
    { line: '{"restart":1,"state":"gone"}', says: "state: " },
  ])("names file and line of $line", async ({ line, says }) => {
    await using folder = await temporaryFolder();
    const file = join(folder.path, "observations.jsonl");
    writeFileSync(file, textOf(['{"restart":1795143600000,"state":"lost"}', line, line]));

    const { err, exitCode } = await replayed([file]);

    expect(exitCode).toBe(2);
    expect(err.join("\n")).toContain(`${file}:2: ${says}`);
  });

  it("leaves out a line that a crash left incomplete", async () => {
    await using folder = await temporaryFolder();
    const file = await recordStall(folder.path);
    appendFileSync(file, '{"source":"airdr');

    const { err, exitCode } = await replayed([file]);

    expect(exitCode).toBe(0);
    expect(err).toEqual([expect.stringContaining("left out a line that is not valid JSON")]);
  });
});

describe("openRecordingFile()", () => {
  it("begins a new line after an incomplete one, and keeps two files", async () => {
    await using folder = await temporaryFolder();
    const file = join(folder.path, "observations.jsonl");
    writeFileSync(file, '{"source":1}\n{"torn":');

    const options = { logger: recordLog().logger, maxBytes: 100, stateFile: join(folder.path, "state") };
    await using recording = await openRecordingFile(file, options);

    recording?.append(["{}"]);
    await recording?.[Symbol.asyncDispose]();
    const afterFirst = readFileSync(file, "utf8");
    recording?.append(["x".repeat(99)]);
    await recording?.[Symbol.asyncDispose]();

    expect(afterFirst).toBe('{"source":1}\n{"torn":\n{}\n');
    expect(readFileSync(`${file}.1`, "utf8")).toBe(afterFirst);
    expect(statSync(file).size).toBe(100);
  });

  it("does not wait for a disk that stalls, drops lines beyond its buffer, and logs when that begins and ends", async () => {
    await using folder = await temporaryFolder();
    const file = join(folder.path, "observations.jsonl");
    const { lines, logger } = recordLog();
    const stateFile = join(folder.path, "state");
    const line = "x".repeat(10_000);
    const costOf = (to: RecordingFile | null) =>
      cpuMsOf(async () => {
        for (let count = 0; count < 4_000; count += 1) {
          to?.append([line]);
          await setImmediate();
        }
      });
    const other = join(folder.path, "friendly.jsonl");
    await using friendly = await openRecordingFile(other, { logger: recordLog().logger, stateFile });
    await costOf(friendly);
    const usual = await costOf(friendly);
    await using recording = await openRecordingFile(file, { logger, stateFile });
    // A FIFO without a reader takes nothing.
    rmSync(file);
    execFileSync("mkfifo", [file]);

    const stalled = await costOf(recording);

    // In a process: a thread that waits for a FIFO cannot be ended. The FIFO is also open for writing, so that reading never ends.
    const copy = 'fs.createReadStream(process.argv[1], { flags: "r+" }).pipe(process.stdout)';
    const reader = spawn(process.execPath, ["-e", copy, file], { stdio: ["ignore", "pipe", "ignore"] });
    let bytes = 0;
    reader.stdout.on("data", (chunk: Buffer) => {
      bytes += chunk.length;
    });
    await recording?.[Symbol.asyncDispose]();
    reader.kill();

    // A queue that is read from its beginning for each line would cost hundreds of times as much.
    expect(stalled / usual).toBeLessThan(25);
    expect(bytes).toBeLessThan(20_000_000);
    expect(lines.map(({ msg }) => msg)).toEqual([
      "Cannot write the recording; observations are lost",
      "Recording writable again",
    ]);
  });
});

/** What `--format json` prints of a chain at one moment. */
interface SaidLine {
  readonly chain: string;
  readonly reference: { readonly block: number } | null;
  readonly targets: readonly (Omit<Stand, "key"> & { readonly target: string })[];
}
type Stand = Pick<TargetReport, "key" | "status" | "block_number">;

function momentOf(chain: string, reference: number | undefined, targets: readonly Stand[]): string {
  const stands = targets.map(({ key, status, block_number: block }) => `${key} ${status} ${block}`);
  return [chain, reference, ...stands].join(" ");
}

/** What the running daemon reports in each of these minutes. */
async function look(play: Scenario, minutes: number): Promise<string[]> {
  const moments: string[] = [];
  for (let minute = 0; minute < minutes; minute += 1) {
    await play.run("1m");
    const chains = chainReports(play.report());
    moments.push(
      ...chains.map(({ slug, reference, targets }) => momentOf(slug, reference?.block_number, targets)),
    );
  }
  return moments;
}

/** A recording in which a target stops; the path of the file. */
async function recordStall(folder: string): Promise<string> {
  await using play = await startScenario(FLEET);
  await play.run("5m");
  play.fleet.target(SUBGRAPH).set({ freezeAtMs: Date.now() });
  await play.run("13m");
  const file = join(folder, "observations.jsonl");
  writeFileSync(file, textOf(play.recording));
  return file;
}

function textOf(lines: readonly string[]): string {
  return lines.map((line) => `${line}\n`).join("");
}

async function replayed(
  files: readonly string[],
  flags: readonly string[] = [],
): Promise<{ readonly exitCode: number; readonly out: readonly string[]; readonly err: readonly string[] }> {
  const { world, printed } = commandWorld({});
  const readFile = (path: string) => (path === "chains.yaml" ? FLEET : world.readFile(path));
  const exitCode = await runCli(["node", "synclag", "replay", ...files, ...flags], { ...world, readFile });
  return { exitCode, ...printed };
}
