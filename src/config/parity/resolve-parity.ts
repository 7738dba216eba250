import type { Form } from "../../core/model/fleet.ts";
import { groupBy } from "../../core/model/group-by.ts";
import type { CarriedProbe, CarriedSelection, ParityProbe } from "../../core/model/parity.ts";
import { whyNotCarried } from "../../dialects/parity.ts";
import type { ConfigFile } from "../schema/config-file.ts";
import { didYouMean } from "../schema/messages.ts";
import type { ParityEntry } from "../schema/parity.ts";
import type { Path } from "../yaml/config-error.ts";
import type { Message } from "../yaml/problem-list.ts";
import { fillSelection } from "./fill-selection.ts";
import { checkPath, checkSelection } from "./selection.ts";

/** A chain of an indexer, polled or not. */
export interface ServedTarget {
  readonly key: string;
  readonly protocol: string;
  readonly variant: string;
  /** The chain's slug. */
  readonly chain: string;
  readonly dialect: string;
  readonly custom: Form | undefined;
  /** The values of its placeholders. */
  readonly values: ReadonlyMap<string, string>;
}

/** Where problems are added, and which there are. */
export interface ParityProblems {
  addProblem(path: Path, message: Message): void;
  addKeyProblem(path: Path, message: Message): void;
  hasProblemAt(path: Path): boolean;
}

/** What is compared, and what each target is asked for it. */
export interface ResolvedParity {
  readonly probes: readonly ParityProbe[];
  /** The probes that the requests to these targets carry. */
  readonly carriedBy: (targetKeys: readonly string[]) => readonly CarriedProbe[];
}

/** Resolves `parity`. If a problem was added, the result must not be used. */
export function resolveParity(
  file: Pick<ConfigFile, "parity" | "chains" | "protocols">,
  served: readonly ServedTarget[],
  problems: ParityProblems,
): ResolvedParity {
  const names = new Set<string>();
  const resolved = file.parity.flatMap((entry, index) => {
    const path = ["parity", index];
    if (names.has(entry.name)) {
      problems.addProblem([...path, "name"], `Cannot use the name "${entry.name}" twice`);
    }
    names.add(entry.name);
    const probe = resolveProbe({ entry, path, file, problems }, served);
    return probe === null ? [] : [probe];
  });
  return {
    probes: resolved.map(({ probe }) => probe),
    carriedBy: (keys) =>
      resolved.flatMap(({ probe: { name, everyMs }, selections }) => {
        const own = keys.flatMap((key) => selections.get(key) ?? []);
        return own.length === 0 ? [] : [{ probe: name, everyMs, selections: own }];
      }),
  };
}

/** One probe of the file, while it is resolved. */
interface ProbeScope {
  readonly entry: ParityEntry;
  readonly path: Path;
  readonly file: Pick<ConfigFile, "chains" | "protocols">;
  readonly problems: ParityProblems;
}

interface ResolvedProbe {
  readonly probe: ParityProbe;
  /** By the target's key. */
  readonly selections: ReadonlyMap<string, CarriedSelection>;
}

function resolveProbe(scope: ProbeScope, served: readonly ServedTarget[]): ResolvedProbe | null {
  const { entry, path, file, problems } = scope;
  if (!Object.hasOwn(file.protocols, entry.protocol)) {
    if (!problems.hasProblemAt(["protocols", entry.protocol])) {
      const known = Object.keys(file.protocols);
      problems.addProblem(
        [...path, "protocol"],
        () => `Cannot find protocol "${entry.protocol}" in protocols${didYouMean(entry.protocol, known)}`,
      );
    }
    return null;
  }
  const ofProtocol = served.filter(({ protocol }) => protocol === entry.protocol);
  const asked = ofProtocol.filter(({ variant }) => Object.hasOwn(entry.queries, variant));
  const variants = checkVariants(scope, ofProtocol);
  if (variants.length < 2) {
    return null;
  }
  const chains = resolveChainsOf(scope, asked);
  const selections = asked
    .filter(({ chain }) => chains.includes(chain))
    .flatMap((target): readonly (readonly [string, CarriedSelection])[] => {
      const selection = resolveSelection(scope, target);
      return selection === null ? [] : [[target.key, selection]];
    });
  return {
    probe: { name: entry.name, protocol: entry.protocol, everyMs: entry.every, chains, variants },
    selections: new Map(selections),
  };
}

/** The variants that are compared, in the order of the file. */
function checkVariants(
  { entry, path, problems }: ProbeScope,
  served: readonly ServedTarget[],
): readonly string[] {
  const known = [...new Set(served.map(({ variant }) => variant))];
  const queries = [...path, "queries"];
  const asked = Object.keys(entry.queries);
  for (const variant of asked.filter((name) => !known.includes(name))) {
    const hint = (): string => didYouMean(variant, known) || `: expected ${known.join(", ")}`;
    problems.addKeyProblem(
      [...queries, variant],
      () => `Cannot find variant "${variant}" of protocol ${entry.protocol}${hint()}`,
    );
  }
  const variants = known.filter((name) => asked.includes(name));
  if (variants.length < 2 && !problems.hasProblemAt(queries)) {
    problems.addProblem(
      queries,
      `Cannot compare ${variants.join(", ") || "nothing"}: expected two or more variants of ${known.join(", ")}`,
    );
  }
  return variants;
}

/** The slugs of the chains to compare on, in the order of the file. `asked` are the targets of the probe's variants. */
function resolveChainsOf(scope: ProbeScope, asked: readonly ServedTarget[]): readonly string[] {
  const { entry, path, file, problems } = scope;
  const variantsByChain = groupBy(asked, ({ chain }) => chain);
  const served = new Map(
    [...variantsByChain].map(([slug, targets]) => [
      slug,
      [...new Set(targets.map(({ variant }) => variant))],
    ]),
  );
  const shared = Object.keys(file.chains).filter((slug) => (served.get(slug) ?? []).length >= 2);
  if (entry.chains !== undefined) {
    checkChains(scope, entry.chains, served);
    return shared.filter((slug) => entry.chains?.includes(slug));
  }
  if (shared.length === 0 && !problems.hasProblemAt(["protocols", entry.protocol])) {
    problems.addProblem(
      [...path, "queries"],
      "Cannot compare these variants: no chain is served by two of them",
    );
  }
  return shared;
}

/** `served`: the variants of each chain that are asked. */
function checkChains(
  { entry, path, file, problems }: ProbeScope,
  chains: readonly string[],
  served: ReadonlyMap<string, readonly string[]>,
): void {
  const known = Object.keys(file.chains);
  for (const [index, slug] of chains.entries()) {
    const at = [...path, "chains", index];
    const variants = served.get(slug) ?? [];
    if (!known.includes(slug)) {
      problems.addProblem(at, () => `Cannot find chain "${slug}" in chains${didYouMean(slug, known)}`);
    } else if (chains.indexOf(slug) !== index) {
      problems.addProblem(at, `Cannot list chain "${slug}" twice`);
    } else if (variants.length < 2) {
      const wanted = Object.keys(entry.queries).join(", ");
      problems.addProblem(
        at,
        `Cannot compare on chain "${slug}": expected two of ${wanted} to serve it, found ${variants[0] ?? "none"}`,
      );
    }
  }
}

function resolveSelection(
  { entry, path, problems }: ProbeScope,
  target: ServedTarget,
): CarriedSelection | null {
  const query = entry.queries[target.variant];
  const at = [...path, "queries", target.variant];
  if (query === undefined || problems.hasProblemAt(at)) {
    return null;
  }
  const why = whyNotCarried(target);
  if (why !== null) {
    problems.addKeyProblem(at, `Cannot ask ${target.variant} for a value: ${why}`);
    return null;
  }
  const filled = fillSelection(query.select, target.values);
  if (filled.kind === "no value") {
    problems.addProblem([...at, "select"], noValue(filled.name, target));
    return null;
  }
  const checked = checkSelection(filled.text);
  if (checked.kind === "invalid") {
    problems.addProblem([...at, "select"], checked.message);
    return null;
  }
  const flaw = checkPath(query.value, checked.field);
  if (flaw !== null) {
    problems.addProblem([...at, "value"], flaw);
  }
  return { target: target.key, select: checked.select, value: query.value.split(".") };
}

function noValue(name: string, { key, values }: ServedTarget): string {
  const hint = didYouMean(name, [...values.keys()]);
  const advice = hint === "" ? `; for a field, write { ${name} } with spaces` : hint;
  return `Cannot fill {${name}} in select: ${key} has no value "${name}"${advice}`;
}
