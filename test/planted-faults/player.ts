import { dirname, relative, resolve } from "node:path";
import {
  BaseSequencer,
  createVitest,
  type TestModule,
  type TestSpecification,
  type TestUserConfig,
} from "vitest/node";
import config from "../../vitest.config.ts";
import { faultsOf, type PlantedFault, withProbes } from "./faults.ts";

/*
 * Plays what its parent sends against the unit tests: all of them with probes in some files, or a fault and the tests that it can change.
 * It is a process of its own, since a fault may make the code never end. Its arguments are filters as for `vitest run`.
 */

export type PlayerRequest =
  | { readonly kind: "probe"; readonly files: readonly string[] }
  | { readonly kind: "play"; readonly fault: PlantedFault; readonly tests: readonly string[] };

export type PlayerMessage =
  | { readonly kind: "probed"; readonly tests: TestsOfFaults; readonly failed: readonly string[] }
  | { readonly kind: "played"; readonly noticedBy: string | null };

/** By id of a fault, the test files in which it would change a value, those first that are likeliest to notice, then the quickest. */
export type TestsOfFaults = Readonly<Record<string, readonly string[]>>;

/** What is in the place of source files now, by absolute path. */
let replaced: ReadonlyMap<string, (code: string) => string> = new Map();
/** The last source file of these that a test has loaded. */
let loaded: string | null = null;
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
    setupFiles: [...(config.test?.setupFiles ?? []), "test/planted-faults/probes.ts"],
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
          const replace = replaced.get(id);
          loaded = replace === undefined ? loaded : id;
          return replace?.(code) ?? null;
        },
      },
    ],
  },
);
const specifications = await vitest.globTestSpecifications(process.argv.slice(2));

// With its workers, which may run a fault without an end.
process.once("disconnect", () => process.kill(-process.pid, "SIGKILL"));

process.on("message", (request: PlayerRequest) => {
  void (request.kind === "probe" ? probe(request.files) : play(request.fault, request.tests)).then(tell);
});

/** Runs all tests with probes in source files. */
async function probe(files: readonly string[]): Promise<PlayerMessage> {
  const faults = new Map(files.map((file) => [file, faultsOf(file)]));
  replaced = new Map([...faults].map(([file, own]) => [resolve(file), (code) => withProbes(code, own)]));
  const { testModules } = await vitest.runTestSpecifications(specifications);
  const whileLoading = new Set(testModules.flatMap((module) => module.meta().whileLoading ?? []));
  const inTests = new Map(testModules.map((module) => [module, new Set(module.meta().inTests)]));
  const tests: Record<string, readonly string[]> = {};
  for (const [file, own] of faults) {
    const importers = importersOf(resolve(file));
    const folder = relative("src", dirname(file));
    const rank = (module: TestModule): number =>
      [`/test/${folder}/`, "/test/worlds/decisions", "/test/scenarios/", ""].findIndex((part) =>
        module.moduleId.includes(part),
      );
    const inOrder = testModules.toSorted(
      (a, b) => rank(a) - rank(b) || a.diagnostic().duration - b.diagnostic().duration,
    );
    for (const { id } of own) {
      tests[id] = inOrder
        .filter((module) => importers.has(module.moduleId))
        .filter((module) => whileLoading.has(id) || inTests.get(module)?.has(id))
        .map(({ moduleId }) => moduleId);
    }
  }
  forget();
  return {
    kind: "probed",
    tests,
    failed: testModules.filter((module) => !module.ok()).map(({ moduleId }) => moduleId),
  };
}

/** Runs tests until one notices a fault. */
async function play(fault: PlantedFault, tests: readonly string[]): Promise<PlayerMessage> {
  const file = resolve(fault.file);
  order = tests;
  failed = [];
  loaded = null;
  replaced = new Map([
    [file, (code) => code.slice(0, fault.start) + fault.replacement + code.slice(fault.end)],
  ]);
  vitest.invalidateFile(file);
  const { unhandledErrors } = await vitest.runTestSpecifications(
    specifications.filter(({ moduleId }) => tests.includes(moduleId)),
  );
  // Else it would cancel the tests of the next fault, which then nothing notices.
  await Promise.all(endings.splice(0));
  forget();
  if (!wasLoaded(file)) {
    throw new Error(`Cannot plant a fault in ${fault.file}: no test loaded it`);
  }
  const noticedBy = failed[0] ?? (unhandledErrors.length > 0 ? "an error outside of any test" : null);
  return { kind: "played", noticedBy };
}

/** Gives the source files their own text again. */
function forget(): void {
  for (const file of replaced.keys()) {
    vitest.invalidateFile(file);
  }
  replaced = new Map();
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
  if (order.length > 0 && endings.length === 0) {
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

/** The transformation of a test's files sets it. */
function wasLoaded(file: string): boolean {
  return loaded === file;
}
