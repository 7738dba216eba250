import type { Path } from "../yaml/config-error.ts";
import type { ChainScope } from "./resolve-context.ts";
import type { SecretReading } from "./secrets.ts";
import { parseHeader, parseTemplate, type Template, type TemplatePart } from "./template.ts";

/** Fills a URL or a link for one chain. Null: what is missing has been told, or makes an optional indexer skipped. */
export function fillUrl(text: string, path: Path, scope: ChainScope): string | null {
  return fill(parseTemplate(text), path, scope);
}

/** Fills a header's value. Null: as with `fillUrl`. */
export function fillHeader(text: string, path: Path, scope: ChainScope): string | null {
  return fill(parseHeader(text), path, scope);
}

function fill(template: Template, path: Path, scope: ChainScope): string | null {
  if (template.kind === "unreadable") {
    scope.indexer.resolving.tell(path, template.message);
    return null;
  }
  const pieces = template.parts.map((part) => fillPart(part, path, scope));
  return pieces.includes(null) ? null : pieces.join("");
}

function fillPart(part: TemplatePart, path: Path, scope: ChainScope): string | null {
  switch (part.kind) {
    case "text":
      return part.text;
    case "value":
      return scope.values.get(part.name) ?? lackingValue(part.name, path, scope);
    case "variable":
    case "file":
      return fillSecret(scope.indexer.resolving.secrets.read(part), path, scope);
  }
}

function lackingValue(name: string, path: Path, { indexer, path: chainPath, values }: ChainScope): null {
  const valuePath = [...chainPath, name];
  const hint = name === "id" ? "; for the chain's number write {chain_id}" : "";
  if (!indexer.resolving.touches(valuePath)) {
    const message = `Cannot fill {${name}} of ${String(path.at(-1))}: ${values.get("chain")} has no value "${name}"${hint}`;
    indexer.resolving.tell(valuePath, message);
  }
  return null;
}

function fillSecret(reading: SecretReading, path: Path, { indexer }: ChainScope): string | null {
  switch (reading.kind) {
    case "read":
      return reading.text;
    case "unset":
      indexer.unset.add(reading.message);
      if (!indexer.entry.optional) {
        indexer.resolving.tell(
          path,
          `Cannot fill this in: ${reading.message}; set it, or mark the indexer optional: true`,
        );
      }
      return null;
    case "unreadable":
      indexer.resolving.tell(path, reading.message);
      return null;
  }
}
