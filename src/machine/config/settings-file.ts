import type { Node, ParseError } from 'jsonc-parser';
import { ToolcribError } from '../../core/errors.ts';
import type { Config } from '../../core/settings.ts';
import { shownPath } from '../paths/shown-path.ts';
import type { ConfigFile } from './check-config.ts';

/**
 * The settings that the bytes of a file say: JSON with comments and trailing commas, in which no key is there twice.
 * Throws CONFIG_INVALID with file, line and what was probably meant. What it needs is loaded when it is called: most
 * people have no such file.
 */
export async function readSettings(bytes: Buffer, { file, whose, known }: ConfigFile): Promise<Config> {
  // By names: the package is CommonJS to Node, and an ES module to who bundles it.
  const [{ findNodeAtLocation, getNodeValue, parseTree, printParseErrorCode }, { checkConfig, placeOf }] =
    await Promise.all([import('jsonc-parser'), import('./check-config.ts')]);
  const name = shownPath(file);
  const text = decoded(bytes, name);
  const lineAt = (offset: number) => text.slice(0, offset).split('\n').length;
  const wrongAt = (offset: number, why: string) => invalid(`${name}:${lineAt(offset)}`, why);
  const problems: ParseError[] = [];
  const root = shallow(() => parseTree(text, problems, { allowTrailingComma: true }), name);
  const [problem] = problems;
  if (problem || !root) {
    // InvalidCommentToken: "invalid comment token".
    const code = problem ? printParseErrorCode(problem.error) : 'nothing is there';
    const words = code.replaceAll(/(?<=[a-z])[A-Z]/g, (letter) => ` ${letter}`).toLowerCase();
    throw wrongAt(problem?.offset ?? 0, `it does not parse: ${words}.`);
  }
  const double = shallow(() => doubtfulKey(root), name);
  if (double)
    throw wrongAt(
      double.offset,
      double.value === '__proto__' ? '__proto__ is no setting.' : 'the same key is there twice.',
    );
  const content: unknown = shallow(() => getNodeValue(root), name);
  const checked = checkConfig(content, { whose, file: name, known });
  if ('config' in checked) return checked.config;
  const [first] = checked.complaints
    .slice(0, 20)
    .map(({ path, says }) => {
      // The deepest thing on the path that is there.
      const nodes = path.map((_, at) => findNodeAtLocation(root, path.slice(0, at + 1)));
      const node = nodes.findLast((each) => each !== undefined);
      return {
        offset: (node?.parent?.type === 'property' ? node.parent : (node ?? root)).offset,
        path,
        says,
      };
    })
    .sort((one, other) => lineAt(one.offset) - lineAt(other.offset));
  if (!first) throw invalid(name, 'it cannot be understood.');
  throw wrongAt(first.offset, (first.path.length === 0 ? '' : `${placeOf(first.path)}: `) + first.says);
}

/** CONFIG_INVALID for a place in a file. */
export const invalid = (place: string, why: string): ToolcribError =>
  new ToolcribError('CONFIG_INVALID', `${place}: ${why}`);

function decoded(bytes: Buffer, file: string): string {
  try {
    // It also takes away the mark that Windows editors put before the text.
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw invalid(file, 'it is not UTF-8.');
  }
}

/** What work on a document brings, which calls itself for each step down; no settings are that deep. */
function shallow<T>(work: () => T, file: string): T {
  try {
    return work();
  } catch (error) {
    if (error instanceof RangeError) throw invalid(file, 'it is nested too deeply.');
    throw error;
  }
}

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
