import { dirname, relative, resolve } from "node:path";
import {
  BaseSequencer,
  createVitest,
  type TestCase,
  type TestModule,
  type TestSpecification,
  type TestUserConfig,
  type Vitest,
} from "vitest/node";
import config from "../../vitest.config.ts";
import type { PlantedFault } from "./faults.ts";

/*
 * Plays the faults that its parent sends against the unit tests. It is a process of its own, since a fault may make the code never
 * end.
 */

/** Which tests are played: filters as for `vitest run`, and parts of paths that are left out. */
export interface PlayedTests {
  readonly filters: readonly string[];
  readonly without: readonly string[];
}

export type PlayerMessage =
  | { readonly kind: "ready"; readonly files: number; readonly failed: readonly string[] }
  | { readonly kind: "played"; readonly noticedBy: string | null };

/** The fault that is in the code now. */
let planted: PlantedFault | null = null;
/** The last fault that a test has loaded. */
let loaded: PlantedFault | null = null;
/** The tests in the order in which they run. */
let order: readonly string[] = [];
let failed: readonly string[] = [];
/** The test files that have ended. */
let ended = new Set<string>();
/** The end of the run, once a test has failed. */
const endings: Promise<void>[] = [];
/** how many faults of a source file each test file has noticed: a file that noticed one often notices the next. */
const noticed = new Map<string, Map<string, number>>();
const durationsMs = new Map<string, number>();

class InOrder extends BaseSequencer {
  override sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    return Promise.resolve(files.toSorted((a, b) => order.indexOf(a.moduleId) - order.indexOf(b.moduleId)));
  }
}

const { filters, without } = JSON.parse(process.argv[2] ?? "") as PlayedTests;
const vitest = await openVitest();
const specifications = (await vitest.globTestSpecifications([...filters])).filter(
  ({ moduleId }) => !without.some((part) => moduleId.includes(part)),
);
const { testModules } = await vitest.runTestSpecifications(specifications);
for (const module of testModules) {
  durationsMs.set(module.moduleId, module.diagnostic().duration);
}
tell({
  kind: "ready",
  files: testModules.length,
  failed: testModules.filter((module) => !module.ok()).map(({ moduleId }) => moduleId),
});

// With its workers, which may run a fault without an end.
process.once("disconnect", () => process.kill(-process.pid, "SIGKILL"));

process.on("message", (fault: PlantedFault) => {
  void play(fault).then((noticedBy) => tell({ kind: "played", noticedBy }));
});

/** The test file that notices the fault; null if none does. */
async function play(fault: PlantedFault): Promise<string | null> {
  const file = resolve(fault.file);
  const relevant = testsOf(file);
  order = relevant.map(({ moduleId }) => moduleId);
  failed = [];
  ended = new Set();
  planted = fault;
  vitest.invalidateFile(file);
  const { unhandledErrors } = await vitest.runTestSpecifications(relevant);
  // Else it would cancel the tests of the next fault, which then nothing notices.
  await Promise.all(endings.splice(0));
  planted = null;
  vitest.invalidateFile(file);
  if (relevant.length > 0 && loaded !== fault) {
    throw new Error(
      `Cannot plant a fault in ${fault.file}: ${relevant.length} test files import it and none loaded it`,
    );
  }
  if (failed.length === 0 && unhandledErrors.length === 0 && ended.size < relevant.length) {
    throw new Error(`Cannot judge ${fault.title}: only ${ended.size} of ${relevant.length} test files ended`);
  }
  const noticedBy = failed[0] ?? (unhandledErrors.length > 0 ? "an error outside of any test" : null);
  if (noticedBy !== null) {
    const folder = relative("src", dirname(file));
    const counts = noticed.get(folder) ?? new Map<string, number>();
    noticed.set(folder, counts.set(noticedBy, (counts.get(noticedBy) ?? 0) + 1));
  }
  return noticedBy;
}

/**
 * The tests that load a source file, the likeliest to notice something first: those that noticed something in its folder, those of the
 * same name, the scenarios, and the others; of equal ones the quickest.
 */
function testsOf(file: string): TestSpecification[] {
  const importers = importersOf(file);
  const folder = relative("src", dirname(file));
  const counts = noticed.get(folder);
  const rank = ({ moduleId }: TestSpecification): readonly number[] => [
    -(counts?.get(moduleId) ?? 0),
    Number(!moduleId.includes(`/test/${folder}/`)),
    Number(!moduleId.includes("/test/scenarios/")),
    durationsMs.get(moduleId) ?? 0,
  ];
  return specifications
    .filter(({ moduleId }) => importers.has(moduleId))
    .toSorted((a, b) => compare(rank(a), rank(b)));
}

function compare(a: readonly number[], b: readonly number[]): number {
  const at = a.findIndex((value, index) => value !== b[index]);
  return at < 0 ? 0 : (a[at] ?? 0) - (b[at] ?? 0);
}

/** Every module that imports a file, directly or through others. */
function importersOf(file: string): ReadonlySet<string> {
  const graphs = vitest.projects.flatMap(({ vite }) =>
    Object.values(vite.environments).map(({ moduleGraph }) => moduleGraph),
  );
  const waiting = graphs.flatMap((graph) => [...(graph.getModulesByFile(file) ?? [])]);
  const found = new Set(waiting);
  for (let module = waiting.pop(); module !== undefined; module = waiting.pop()) {
    const others = [...module.importers].filter((importer) => !found.has(importer));
    for (const importer of others) {
      found.add(importer);
    }
    waiting.push(...others);
  }
  return new Set([...found].map(({ file: path }) => path ?? ""));
}

function openVitest(): Promise<Vitest> {
  const noteFailure = (module: TestModule): void => {
    failed = [...failed, module.moduleId];
    if (planted !== null && endings.length === 0) {
      endings.push(vitest.cancelCurrentRun("test-failure"));
    }
  };
  return createVitest(
    "test",
    {
      ...unitTests(),
      // Its projects would not have the plugin below.
      config: false,
      watch: false,
      maxWorkers: 1,
      // A fault often makes a test wait for what never comes. On a busy machine none of these takes so long otherwise.
      testTimeout: 40_000,
      hookTimeout: 40_000,
      sequence: { sequencer: InOrder },
      reporters: [
        {
          onTestCaseResult: (test: TestCase) => {
            if (test.result().state === "failed") {
              noteFailure(test.module);
            }
          },
          onTestModuleEnd: (module: TestModule) => {
            ended.add(module.moduleId);
            if (module.state() === "failed") {
              noteFailure(module);
            }
          },
        },
      ],
    },
    {
      plugins: [
        {
          name: "planted-fault",
          enforce: "pre",
          transform(code, id) {
            if (planted === null || id !== resolve(planted.file)) {
              return null;
            }
            loaded = planted;
            return `${code.slice(0, planted.start)}${planted.replacement}${code.slice(planted.end)}`;
          },
        },
      ],
    },
  );
}

/** The options of the unit tests, as in the configuration of all. */
function unitTests(): TestUserConfig {
  const { projects, ...shared } = config.test ?? {};
  for (const project of projects ?? []) {
    if (typeof project === "object" && "test" in project && project.test.name === "unit") {
      return { ...shared, ...project.test };
    }
  }
  throw new Error('Cannot find the project "unit" in vitest.config.ts');
}

function tell(message: PlayerMessage): void {
  process.send?.(message);
}
