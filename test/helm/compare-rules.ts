/** Compares the spec of the PrometheusRule of a name, on standard input, with a rules file. */
import { deepStrictEqual } from "node:assert";
import { readFileSync } from "node:fs";
import { parse, parseAllDocuments } from "yaml";

interface Manifest {
  readonly metadata: { readonly name: string };
  readonly spec: unknown;
}

const [name = "", file = ""] = process.argv.slice(2);
const documents = parseAllDocuments(readFileSync(0, "utf8")).map(
  (document) => document.toJS() as Manifest | null,
);
const rule = documents.find((document) => document?.metadata.name === name);
deepStrictEqual(rule?.spec, parse(readFileSync(file, "utf8")) as unknown);
