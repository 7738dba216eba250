import { readFileSync } from "node:fs";
import ts from "typescript";

/** One small mistake in the code: the text from `start` to `end` of the file is replaced. */
export interface PlantedFault {
  /** Path from the repository's root. */
  readonly file: string;
  readonly start: number;
  readonly end: number;
  readonly replacement: string;
  /** Position and change, for a reader. */
  readonly title: string;
}

/** A node of the syntax tree, and the text that a fault puts in its place. */
type Edit = readonly [node: ts.Node, replacement: string];

/** Each of the two replaces the other. */
const PAIRS = [
  "< <=",
  "> >=",
  "=== !==",
  "&& ||",
  "+ -",
  "* /",
  "+= -=",
  "min max",
  "some every",
  "floor ceil",
];
const SWAPPED: ReadonlyMap<string, string> = new Map(
  PAIRS.map((pair) => pair.split(" ")).flatMap(([one = "", other = ""]) => [
    [one, other] as const,
    [other, one] as const,
  ]),
);

/** All faults that can be planted in a file, in the order of the text. */
export function faultsOf(file: string): readonly PlantedFault[] {
  const source = ts.createSourceFile(file, readFileSync(file, "utf8"), ts.ScriptTarget.ES2022, true);
  const faultsIn = (node: ts.Node): readonly PlantedFault[] => {
    if (isLeftAlone(node)) {
      return [];
    }
    const faults = editsOf(node).map((edit) => toFault(source, edit));
    ts.forEachChild(node, (child) => void faults.push(...faultsIn(child)));
    return faults;
  };
  return faultsIn(source);
}

/** Types do not run, and no test provokes an error that only a bug can raise. */
function isLeftAlone(node: ts.Node): boolean {
  return ts.isTypeNode(node) || ts.isImportDeclaration(node) || ts.isThrowStatement(node);
}

function editsOf(node: ts.Node): readonly Edit[] {
  if (ts.isIfStatement(node)) {
    return [[node.expression, "false"]];
  }
  if (ts.isConditionalExpression(node)) {
    return [[node.condition, `!(${node.condition.getText()})`]];
  }
  if (ts.isExpressionStatement(node) && ts.isCallExpression(node.expression)) {
    return node.expression.expression.kind === ts.SyntaxKind.SuperKeyword ? [] : [[node, ";"]];
  }
  if (ts.isCallExpression(node) && ts.isPropertyAccessExpression(node.expression)) {
    return callEdits(node, node.expression);
  }
  return valueEdits(node);
}

function valueEdits(node: ts.Node): readonly Edit[] {
  if (ts.isPrefixUnaryExpression(node) && node.operator === ts.SyntaxKind.ExclamationToken) {
    return [[node, `(${node.operand.getText()})`]];
  }
  if (ts.isBinaryExpression(node)) {
    const swapped = SWAPPED.get(node.operatorToken.getText());
    return swapped === undefined || isText(node) ? [] : [[node.operatorToken, swapped]];
  }
  if (ts.isNumericLiteral(node)) {
    return [[node, node.getText() === "0" ? "1" : `(${node.getText()} * 2)`]];
  }
  const isTrue = node.kind === ts.SyntaxKind.TrueKeyword;
  return isTrue || node.kind === ts.SyntaxKind.FalseKeyword ? [[node, String(!isTrue)]] : [];
}

function callEdits(
  node: ts.CallExpression,
  { expression, name }: ts.PropertyAccessExpression,
): readonly Edit[] {
  if (name.text === "filter" && node.arguments.length === 1) {
    return [[node, expression.getText()]];
  }
  const swapped = SWAPPED.get(name.text);
  return swapped === undefined ? [] : [[name, swapped]];
}

/** Whether a sum joins strings, which cannot be subtracted. */
function isText({ left, right, operatorToken }: ts.BinaryExpression): boolean {
  return (
    operatorToken.kind === ts.SyntaxKind.PlusToken &&
    [left, right].some((side) => ts.isStringLiteralLike(side) || ts.isTemplateExpression(side))
  );
}

function toFault(source: ts.SourceFile, [node, replacement]: Edit): PlantedFault {
  const [start, end] = [node.getStart(), node.getEnd()];
  const { line } = source.getLineAndCharacterOfPosition(start);
  const lineText = source.text.split("\n")[line]?.trim() ?? "";
  const change = `${shorten(source.text.slice(start, end))} → ${shorten(replacement)}`;
  const title = `${source.fileName}:${line + 1}  ${change}   in: ${shorten(lineText)}`;
  return { file: source.fileName, start, end, replacement, title };
}

function shorten(text: string): string {
  const line = text.replace(/\s+/g, " ");
  return line.length > 90 ? `${line.slice(0, 89)}…` : line;
}
