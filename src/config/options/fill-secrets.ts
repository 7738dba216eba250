import type { SecretStore } from "../resolve/secrets.ts";
import { type FilledPart, type FillFailure, fillTemplate, parseTemplate } from "../resolve/template.ts";

/** A text of the command line with its variables and files read, or why it cannot be used. */
export type FilledSecrets =
  | { readonly kind: "filled"; readonly parts: readonly FilledPart[] }
  | { readonly kind: "unusable"; readonly message: string };

/** Fills `${VAR}` and `${file:/path}` in a URL that is not from chains.yaml, and so has no other placeholders. */
export function fillSecrets(written: string, secrets: SecretStore): FilledSecrets {
  const filled = fillTemplate(parseTemplate(written), { values: new Map(), secrets });
  return filled.kind === "filled"
    ? filled
    : { kind: "unusable", message: filled.failures.map(describeFailure).join("; ") };
}

function describeFailure(failure: FillFailure): string {
  switch (failure.kind) {
    case "invalid":
      return failure.message;
    case "no value":
      return `Cannot use {${failure.name}}: expected \${VARIABLE} or \${file:/path}`;
    case "unset":
      return `Cannot resolve this value: ${failure.message}`;
  }
}
