import { cp, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect } from "vitest";
import type { Report, TargetReport } from "../../../src/core/model/report.ts";
import type { Anvil } from "./anvil.ts";
import { type Program, type ProgramOptions, startProgram } from "./program.ts";
import { startSynclag, writeConfig } from "./synclag.ts";
import { temporaryFolder } from "./undo.ts";

/** How long a real indexer may take for something that should take seconds. */
export const SETTLE = { timeout: 450_000, interval: 250 };
const EACH_SECOND = "* * * * * *";
const IDS: Readonly<Record<string, number>> = { alpha: 31_337, beta: 31_338 };

const INDEXERS = fileURLToPath(new URL("../../../tools/indexers", import.meta.url));

/** Starts a program of the packages that are installed in a folder of tools/indexers; the indexer serves some seconds later. */
export function startIndexer(
  folder: string,
  command: string,
  env: ProgramOptions["env"] = {},
): Promise<Program> {
  const args = `node_modules/${command}`.split(" ");
  return startProgram({ command: process.execPath, args, cwd: join(INDEXERS, folder), env });
}

/** Copies the project of a folder of tools/indexers, with addresses in place of the placeholders in its configuration. */
export async function copyProject(
  folder: string,
  addresses: Readonly<Record<string, string>>,
): Promise<string> {
  const copy = await temporaryFolder(folder);
  await cp(join(INDEXERS, folder, "project"), copy, { recursive: true });
  for (const file of (await readdir(copy)).filter((name) => name.endsWith(".yaml"))) {
    const text = await readFile(join(copy, file), "utf8");
    await writeFile(
      join(copy, file),
      text.replace(/[A-Z]+_URL/g, (name) => addresses[name] ?? name),
    );
  }
  return copy;
}

/** What is polled, each second. */
export interface WatchOptions {
  /** The nodes of the chains `alpha` and `beta`; null: it has none. */
  readonly nodes: Readonly<Record<string, Anvil | null>>;
  /** Default: a second, as Anvil has it. */
  readonly blockTime?: string;
  /** The URL and dialect of each variant, for all chains. Default dialect: `auto`. */
  readonly indexers: Readonly<Record<string, { readonly dialect?: string; readonly url: string }>>;
  readonly thresholds: Readonly<Record<string, string>>;
  readonly parity?: readonly object[];
}

/** Synclag on real indexers. */
export interface WatchedIndexers {
  report(): Promise<Report>;
  /** By variant and chain. */
  targets(): Promise<readonly TargetReport[]>;
  /** Waits until the targets have these statuses, in the order of their names, such as `first alpha ok -`. */
  says(...verdicts: readonly string[]): Promise<void>;
  /** The targets whose height their chain did not have a moment ago or since. */
  wrongHeights(slackBlocks: number): Promise<readonly TargetReport[]>;
}

export async function watchIndexers(options: WatchOptions): Promise<WatchedIndexers> {
  const { nodes, blockTime = "1s", indexers, parity = [] } = options;
  const chains = Object.entries(nodes).map(([slug, node]) => [
    slug,
    { id: IDS[slug], block_time: blockTime, rpc: node === null ? [] : [node.url] },
  ]);
  const polled = { schedule: EACH_SECOND, chains: Object.keys(nodes) };
  // JSON is YAML.
  const chainsYaml = JSON.stringify({
    version: 1,
    poll: { timeout: "2s", retries: 0, rpc_schedule: EACH_SECOND },
    thresholds: options.thresholds,
    chains: Object.fromEntries(chains),
    protocols: {
      ledger: Object.entries(indexers).map(([variant, indexer]) => ({ variant, ...indexer, ...polled })),
    },
    parity,
  });
  const synclag = await startSynclag(await writeConfig(chainsYaml));
  const targets = async () => {
    const all = (await synclag.report()).targets;
    return all.toSorted((a, b) => nameOf(a).localeCompare(nameOf(b)));
  };
  const verdicts = async () =>
    (await targets()).map((one) => `${nameOf(one)} ${one.status} ${one.reason ?? "-"}`);
  const heights = async () =>
    new Map(
      await Promise.all(
        Object.entries(nodes).map(async ([slug, node]) => [slug, (await node?.blockNumber()) ?? 0] as const),
      ),
    );
  return {
    report: () => synclag.report(),
    targets,
    says: (...wanted) => expect.poll(verdicts, SETTLE).toEqual(wanted),
    async wrongHeights(slackBlocks) {
      const before = await heights();
      const said = await targets();
      const after = await heights();
      return said.filter(
        ({ chain, block_number: height }) =>
          height === null ||
          height < (before.get(chain) ?? 0) - slackBlocks ||
          height > (after.get(chain) ?? 0),
      );
    },
  };
}

function nameOf({ variant, chain }: TargetReport): string {
  return `${variant} ${chain}`;
}
