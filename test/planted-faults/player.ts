import { dirname, relative, resolve } from "node:path";
import { BaseSequencer, createVitest, type TestSpecification, type TestUserConfig } from "vitest/node";
import config from "../../vitest.config.ts";
import type { PlantedFault } from "./faults.ts";

/*
 * Plays the faults that its parent sends against the unit tests. It is a process of its own, since a fault may make the code never
 * end. Its arguments are filters as for `vitest run`.
 */

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
/** The end of the run, once a test has failed. */
const endings: Promise<void>[] = [];

class InOrder extends BaseSequencer {
  override sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    return Promise.resolve(files.toSorted((a, b) => order.indexOf(a.moduleId) - order.indexOf(b.moduleId)));
  }
}

const vitest = await createVitest(
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
        onTestCaseResult: (test) => noteFailure(test.result().state, test.module.moduleId),
        onTestModuleEnd: (module) => noteFailure(module.state(), module.moduleId),
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
const specifications = await vitest.globTestSpecifications(process.argv.slice(2));
const { testModules } = await vitest.runTestSpecifications(specifications);
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
  planted = fault;
  vitest.invalidateFile(file);
  const { unhandledErrors } = await vitest.runTestSpecifications(relevant);
  // Else it would cancel the tests of the next fault, which then nothing notices.
  await Promise.all(endings.splice(0));
  planted = null;
  vitest.invalidateFile(file);
  if (relevant.length > 0 && loaded !== fault) {
    throw new Error(`Cannot plant a fault in ${fault.file}: no test loaded it`);
  }
  return failed[0] ?? (unhandledErrors.length > 0 ? "an error outside of any test" : null);
}

/** The tests that load a source file, the likeliest to notice something first: those of its folder, the scenarios, the others. */
function testsOf(file: string): TestSpecification[] {
  const importers = importersOf(file);
  const folder = relative("src", dirname(file));
  const rank = ({ moduleId }: TestSpecification): number =>
    [`/test/${folder}/`, "/test/scenarios/", ""].findIndex((part) => moduleId.includes(part));
  return specifications
    .filter(({ moduleId }) => importers.has(moduleId))
    .toSorted((a, b) => rank(a) - rank(b));
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

function noteFailure(state: string, moduleId: string): void {
  if (state !== "failed") {
    return;
  }
  failed = [...failed, moduleId];
  if (planted !== null && endings.length === 0) {
    endings.push(vitest.cancelCurrentRun("test-failure"));
  }
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
