import type { ChainState } from "../../core/chain/chain-state.ts";
import type { NotifiedIncident } from "../../core/events/decide-messages.ts";
import type { Incident } from "../../core/model/report.ts";
import { seal, unseal } from "./seal.ts";

/**
 * The part of a process's state with which the next process continues. The state file and the store keep it in parts that
 * change separately.
 */
export interface KnownState {
  /** By the chain's slug. */
  readonly chains: Readonly<Record<string, ChainState>>;
  readonly incidents: readonly Incident[];
  /** The recent incidents, and what the webhook has reported of them. */
  readonly notified: readonly NotifiedIncident[];
  /** The index of the question that each endpoint answered last, by a digest of the endpoint's identity. */
  readonly questions: Readonly<Record<string, number>>;
}

/** A part as it was read. */
export interface ReadPart {
  readonly name: string;
  readonly text: string;
}

/** A part to write. */
export interface Part {
  readonly name: string;
  /** Changes with the part; compared with `===`. */
  readonly version: unknown;
  readonly text: () => string;
}

const CHAIN = "chain ";

export function stateParts({ chains, incidents, questions, notified }: KnownState): readonly Part[] {
  return [
    ...Object.entries(chains).map(([slug, chain]) => sealedPart(CHAIN + slug, chain, chain.revision)),
    sealedPart("incidents", incidents),
    sealedPart("questions", questions),
    sealedPart("notified", notified),
  ];
}

/** A part with a sealed text. Without a `version`, the text is made at once and serves as the version. */
export function sealedPart(name: string, value: unknown, version?: number): Part {
  if (version === undefined) {
    const text = seal(value);
    return { name, version: text, text: () => text };
  }
  return { name, version, text: () => seal(value) };
}

/** A line for each part: its name, a tab, and its text. Making the texts of a large fleet at once would block the process. */
export function* partLines(parts: Iterable<Part>): Iterable<string> {
  for (const { name, text } of parts) {
    yield `${name}\t${text()}\n`;
  }
}

/** The values in lines of `partLines`, as `unsealParts` returns them. */
export function unsealLines(lines: readonly string[]) {
  const parts = lines.flatMap((line) => {
    const [name = "", text = ""] = line.split("\t");
    return line === "" ? [] : [{ name, text }];
  });
  return unsealParts(parts);
}

/** The values by the name of the part. `invalid`: the names of parts that are damaged, or that another version wrote. */
export function unsealParts(parts: readonly ReadPart[]) {
  const values = new Map<string, unknown>();
  const invalid: string[] = [];
  for (const { name, text } of parts) {
    const value = unseal(text);
    if (value === undefined) {
      invalid.push(name);
    } else {
      values.set(name, value);
    }
  }
  return { values, invalid };
}

/** The reverse of `stateParts`, from unsealed values. */
export function stateIn(
  values: ReadonlyMap<string, unknown>,
): Pick<KnownState, "chains"> & Partial<KnownState> {
  const incidents = values.get("incidents") as KnownState["incidents"] | undefined;
  const questions = values.get("questions") as KnownState["questions"] | undefined;
  const notified = values.get("notified") as KnownState["notified"] | undefined;
  return {
    chains: valuesNamed<ChainState>(CHAIN, values),
    ...(incidents && { incidents }),
    ...(questions && { questions }),
    ...(notified && { notified }),
  };
}

/** The values whose names begin with this, by the rest of the name. */
export function valuesNamed<T>(
  prefix: string,
  values: ReadonlyMap<string, unknown>,
): Readonly<Record<string, T>> {
  const named = [...values].filter(([name]) => name.startsWith(prefix));
  return Object.fromEntries(named.map(([name, value]) => [name.slice(prefix.length), value as T]));
}
