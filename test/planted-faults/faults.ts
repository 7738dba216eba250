import { readFileSync } from "node:fs";
import ts from "typescript";
import type { Probe } from "./probes.ts";

/** One small mistake in the code: the text from `start` to `end` of the file is replaced. */
export interface PlantedFault {
  /** Unique among all faults. */
  readonly id: string;
  /** Path from the repository's root. */
  readonly file: string;
  readonly start: number;
  readonly end: number;
  readonly replacement: string;
  /** Position and change, for a reader. */
  readonly title: string;
  /** Edits that put a probe at the place of the fault. */
  readonly probe: readonly TextEdit[];
}

type TextEdit = readonly [start: number, end: number, text: string];
/** A node, what a fault puts in its place, and the probe that notes whether this would change anything. */
type Edit = readonly [node: ts.Node, replacement: string, probe: (id: string) => readonly TextEdit[]];

const OPERATORS: ReadonlyMap<ts.SyntaxKind, string> = new Map([
  [ts.SyntaxKind.LessThanToken, "<="],
  [ts.SyntaxKind.LessThanEqualsToken, "<"],
  [ts.SyntaxKind.GreaterThanToken, ">="],
  [ts.SyntaxKind.GreaterThanEqualsToken, ">"],
  [ts.SyntaxKind.EqualsEqualsEqualsToken, "!=="],
  [ts.SyntaxKind.ExclamationEqualsEqualsToken, "==="],
  [ts.SyntaxKind.AmpersandAmpersandToken, "||"],
  [ts.SyntaxKind.BarBarToken, "&&"],
  [ts.SyntaxKind.PlusToken, "-"],
  [ts.SyntaxKind.MinusToken, "+"],
  [ts.SyntaxKind.AsteriskToken, "/"],
  [ts.SyntaxKind.SlashToken, "*"],
  [ts.SyntaxKind.PlusEqualsToken, "-="],
  [ts.SyntaxKind.MinusEqualsToken, "+="],
]);

const METHODS: ReadonlyMap<string, string> = new Map([
  ["min", "max"],
  ["max", "min"],
  ["some", "every"],
  ["every", "some"],
  ["floor", "ceil"],
  ["ceil", "floor"],
]);

/** All faults that can be planted in a file, in the order of the text. */
export function faultsOf(file: string): readonly PlantedFault[] {
  const text = readFileSync(file, "utf8");
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.ES2022, true);
  const faults: PlantedFault[] = [];
  const visit = (node: ts.Node): void => {
    if (isLeftAlone(node)) {
      return;
    }
    for (const edit of editsOf(node)) {
      faults.push(toFault(source, edit, faults.length));
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return faults;
}

/** The text of a file with a probe wherever a fault can be planted. */
export function withProbes(text: string, faults: readonly PlantedFault[]): string {
  const edits = faults.flatMap(({ probe }) => probe).map((edit, place) => ({ edit, place }));
  // Outer calls open first and end last.
  const ordered = edits.toSorted(({ edit: a, place: outer }, { edit: b, place: inner }) => {
    const closing = Number(b[2] === ")") - Number(a[2] === ")");
    return a[0] - b[0] || closing || (a[2] === ")" ? inner - outer : outer - inner);
  });
  let probed = "";
  let copied = 0;
  for (const { edit } of ordered) {
    probed += text.slice(copied, edit[0]) + edit[2];
    copied = edit[1];
  }
  return probed + text.slice(copied);
}

/** Types do not run, and no test provokes an error that only a bug can raise. */
function isLeftAlone(node: ts.Node): boolean {
  return ts.isTypeNode(node) || ts.isImportDeclaration(node) || ts.isThrowStatement(node);
}

function editsOf(node: ts.Node): readonly Edit[] {
  if (ts.isIfStatement(node)) {
    return [[node.expression, "false", around(node.expression, "truthy")]];
  }
  if (ts.isConditionalExpression(node)) {
    return [[node.condition, `!(${node.condition.getText()})`, around(node.condition, "always")]];
  }
  if (ts.isExpressionStatement(node) && ts.isCallExpression(node.expression)) {
    const start = node.getStart();
    return node.expression.expression.kind === ts.SyntaxKind.SuperKeyword
      ? []
      : [[node, ";", (id) => [[start, start, `PROBES.always("${id}");`]]]];
  }
  return [...operatorEdits(node), ...literalEdits(node), ...callEdits(node)];
}

function operatorEdits(node: ts.Node): readonly Edit[] {
  if (ts.isPrefixUnaryExpression(node) && node.operator === ts.SyntaxKind.ExclamationToken) {
    return [[node, `(${node.operand.getText()})`, around(node, "always")]];
  }
  if (!ts.isBinaryExpression(node)) {
    return [];
  }
  const { left, operatorToken, right } = node;
  const own = operatorToken.getText();
  const swapped = OPERATORS.get(operatorToken.kind);
  if (swapped === undefined || isText(node)) {
    return [];
  }
  if (own === "&&" || own === "||") {
    return [[operatorToken, swapped, around(left, "always")]];
  }
  if (own.endsWith("=") && !/[!=<>]=$/.test(own)) {
    return [[operatorToken, swapped, around(right, "truthy")]];
  }
  const call = around(node, "operator", `"${own}","${swapped}",`);
  const comma: TextEdit = [operatorToken.getStart(), operatorToken.getEnd(), ","];
  return [[operatorToken, swapped, (id) => [...call(id), comma]]];
}

function literalEdits(node: ts.Node): readonly Edit[] {
  const isTrue = node.kind === ts.SyntaxKind.TrueKeyword;
  if (isTrue || node.kind === ts.SyntaxKind.FalseKeyword) {
    return [[node, String(!isTrue), around(node, "always")]];
  }
  return node.kind === ts.SyntaxKind.NumericLiteral
    ? [[node, node.getText() === "0" ? "1" : `(${node.getText()} * 2)`, around(node, "always")]]
    : [];
}

function callEdits(node: ts.Node): readonly Edit[] {
  if (!(ts.isCallExpression(node) && ts.isPropertyAccessExpression(node.expression))) {
    return [];
  }
  const { name, expression } = node.expression;
  const [argument, another] = node.arguments;
  if (name.text === "filter" && argument !== undefined && another === undefined) {
    return [[node, expression.getText(), around(argument, "predicate")]];
  }
  const swapped = METHODS.get(name.text);
  if (swapped === undefined) {
    return [];
  }
  if (expression.getText() !== "Math" || argument === undefined) {
    return [[name, swapped, around(node, "always")]];
  }
  const [start, first] = [node.getStart(), argument.getStart()];
  return [[name, swapped, (id) => [[start, first, `PROBES.math("${id}","${name.text}","${swapped}",`]]]];
}

/** The call of a probe around an expression. */
function around(node: ts.Node, probe: Probe, more = ""): (id: string) => readonly TextEdit[] {
  return (id) => [
    [node.getStart(), node.getStart(), `PROBES.${probe}("${id}",${more}`],
    [node.getEnd(), node.getEnd(), ")"],
  ];
}

/** Whether a sum joins strings, which cannot be subtracted. */
function isText({ left, right, operatorToken }: ts.BinaryExpression): boolean {
  return (
    operatorToken.kind === ts.SyntaxKind.PlusToken &&
    [left, right].some((side) => ts.isStringLiteralLike(side) || ts.isTemplateExpression(side))
  );
}

function toFault(source: ts.SourceFile, [node, replacement, probe]: Edit, place: number): PlantedFault {
  const start = node.getStart();
  const end = node.getEnd();
  const id = `${source.fileName}#${place}`;
  const { line } = source.getLineAndCharacterOfPosition(start);
  const lineText = source.text.split("\n")[line]?.trim() ?? "";
  const change = `${shorten(source.text.slice(start, end))} → ${shorten(replacement)}`;
  return {
    id,
    file: source.fileName,
    start,
    end,
    replacement,
    title: `${source.fileName}:${line + 1}  ${change}   in: ${shorten(lineText)}`,
    probe: probe(id),
  };
}

function shorten(text: string): string {
  const line = text.replace(/\s+/g, " ");
  return line.length > 90 ? `${line.slice(0, 89)}…` : line;
}
