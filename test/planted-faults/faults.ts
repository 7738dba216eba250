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

type Edit = readonly [node: ts.Node, replacement: string];

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
    for (const [edited, replacement] of editsOf(node)) {
      faults.push(toFault(source, edited, replacement));
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return faults;
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
  return [...operatorEdits(node), ...literalEdits(node), ...callEdits(node)];
}

function operatorEdits(node: ts.Node): readonly Edit[] {
  if (ts.isPrefixUnaryExpression(node) && node.operator === ts.SyntaxKind.ExclamationToken) {
    return [[node, `(${node.operand.getText()})`]];
  }
  if (!ts.isBinaryExpression(node)) {
    return [];
  }
  const swapped = OPERATORS.get(node.operatorToken.kind);
  return swapped === undefined || isText(node) ? [] : [[node.operatorToken, swapped]];
}

function literalEdits(node: ts.Node): readonly Edit[] {
  switch (node.kind) {
    case ts.SyntaxKind.NumericLiteral:
      return [[node, node.getText() === "0" ? "1" : `(${node.getText()} * 2)`]];
    case ts.SyntaxKind.TrueKeyword:
      return [[node, "false"]];
    case ts.SyntaxKind.FalseKeyword:
      return [[node, "true"]];
    default:
      return [];
  }
}

function callEdits(node: ts.Node): readonly Edit[] {
  if (!(ts.isCallExpression(node) && ts.isPropertyAccessExpression(node.expression))) {
    return [];
  }
  const { name, expression } = node.expression;
  if (name.text === "filter" && node.arguments.length === 1) {
    return [[node, expression.getText()]];
  }
  const swapped = METHODS.get(name.text);
  return swapped === undefined ? [] : [[name, swapped]];
}

/** Whether a sum joins strings, which cannot be subtracted. */
function isText({ left, right, operatorToken }: ts.BinaryExpression): boolean {
  return (
    operatorToken.kind === ts.SyntaxKind.PlusToken &&
    [left, right].some((side) => ts.isStringLiteralLike(side) || ts.isTemplateExpression(side))
  );
}

function toFault(source: ts.SourceFile, node: ts.Node, replacement: string): PlantedFault {
  const start = node.getStart();
  const end = node.getEnd();
  const { line } = source.getLineAndCharacterOfPosition(start);
  const lineText = source.text.split("\n")[line]?.trim() ?? "";
  const change = `${shorten(source.text.slice(start, end))} → ${shorten(replacement)}`;
  return {
    file: source.fileName,
    start,
    end,
    replacement,
    title: `${source.fileName}:${line + 1}  ${change}   in: ${shorten(lineText)}`,
  };
}

function shorten(text: string): string {
  const line = text.replace(/\s+/g, " ");
  return line.length > 90 ? `${line.slice(0, 89)}…` : line;
}
