import module from 'node:module';
import { displayPath } from '../../../machine/paths/display-path.ts';

type Parse = (text: string) => unknown;

/** What is larger takes longer to parse than its answer is worth. */
const mostBytes = 1024 * 1024;

/** The parser that is at hand for a name. */
async function parserFor(path: string): Promise<Parse | undefined> {
  if (/\.(?:json|ipynb)$/i.test(path)) return JSON.parse as Parse;
  // Node has it from 22.13 on.
  if (/\.[cm]?[jt]s$/i.test(path)) return (module as { stripTypeScriptTypes?: Parse }).stripTypeScriptTypes;
  if (!/\.ya?ml$/i.test(path)) return undefined;
  const { parseAllDocuments } = await import('yaml');
  return (text) => {
    for (const { errors } of [parseAllDocuments(text)].flat()) if (errors?.[0]) throw errors[0];
  };
}

/**
 * A line about a file that does not parse any more, or that is made and does not; undefined for all others.
 * One that did not parse before may be of another dialect: JSON with comments, a template, code for another
 * runtime.
 */
export async function syntaxNote(
  path: string,
  before: Buffer | undefined,
  after: Buffer,
): Promise<string | undefined> {
  if (Math.max(after.length, before?.length ?? 0) > mostBytes) return undefined;
  const parse = await parserFor(path);
  const wrong = parse && complaint(parse, after);
  if (!parse || wrong === undefined || (before && complaint(parse, before) !== undefined)) return undefined;
  // Comments in a new file say that it is meant so.
  if (!before && /^[ \t]*(?:\/[/*]|\{\{|\{%)/m.test(after.toString())) return undefined;
  return `${displayPath(path)} ${before ? 'no longer parses' : 'does not parse'}: ${wrong}`;
}

function complaint(parse: Parse, bytes: Buffer): string | undefined {
  const text = bytes.toString().replace(/^\ufeff/, '');
  try {
    if (text.trim() !== '') parse(text);
    return undefined;
  } catch (error) {
    return (error instanceof Error ? error.message : String(error)).trim().split('\n')[0]?.slice(0, 200);
  }
}
