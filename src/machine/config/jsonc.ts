import type { Node, ParseError } from 'jsonc-parser';

/** What a settings file holds. */
export interface Document {
  /** As JSON has it. */
  readonly value: unknown;
  /** The line, from 1, of the deepest thing on the path that is there. */
  lineOf(path: readonly (string | number)[]): number;
}

/**
 * Reads JSON with comments and trailing commas, strictly: a key that is there twice, or that is `__proto__`, is
 * refused. Otherwise says what is wrong in which line. Loads the parser when it is first called.
 */
export async function readJsonc(
  text: string,
): Promise<Document | { readonly line: number; readonly wrong: string }> {
  // By names: the package is CommonJS to Node, and an ES module to who bundles it.
  const { findNodeAtLocation, getNodeValue, parseTree, printParseErrorCode } = await import('jsonc-parser');
  const lineAt = (offset: number) => text.slice(0, offset).split('\n').length;
  // No settings are that deep, and the parser calls itself for each step.
  let depth = 0;
  for (const { 0: sign, index } of text.matchAll(/"(?:\\.|[^"\\\n])*"?|[[{]|[\]}]/g)) {
    depth += sign === '[' || sign === '{' ? 1 : sign === ']' || sign === '}' ? -1 : 0;
    if (depth > 32) return { line: lineAt(index), wrong: 'it is nested too deeply.' };
  }
  const problems: ParseError[] = [];
  const root = parseTree(text, problems, { allowTrailingComma: true });
  const [first] = problems;
  if (first)
    return {
      line: lineAt(first.offset),
      wrong: `it does not parse: ${inWords(printParseErrorCode(first.error))}.`,
    };
  if (!root) return { line: 1, wrong: 'it is empty; {} says nothing.' };
  const double = doubtfulKey(root);
  if (double)
    return {
      line: lineAt(double.offset),
      wrong: double.value === '__proto__' ? '__proto__ is no setting.' : 'the same key is there twice.',
    };
  const lineOf = (path: readonly (string | number)[]) => {
    const nodes = path.map((_, at) => findNodeAtLocation(root, path.slice(0, at + 1)));
    const node = nodes.findLast((each) => each !== undefined);
    return lineAt((node?.parent?.type === 'property' ? node.parent : (node ?? root)).offset);
  };
  return { value: getNodeValue(root), lineOf };
}

/** InvalidCommentToken: "invalid comment token". */
const inWords = (code: string): string =>
  code.replaceAll(/(?<=[a-z])[A-Z]/g, (letter) => ` ${letter}`).toLowerCase();

function doubtfulKey(node: Node): Node | undefined {
  const seen = new Set<unknown>();
  for (const child of node.children ?? []) {
    const key = node.type === 'object' ? child.children?.[0] : undefined;
    if (key && (seen.has(key.value) || key.value === '__proto__')) return key;
    if (key) seen.add(key.value);
    const inside = doubtfulKey(child);
    if (inside) return inside;
  }
  return undefined;
}
