import module from 'node:module';
import { displayPath } from '../../../machine/paths/display-path.ts';

type Parse = (text: string) => unknown;

/** Bytes of a file that is parsed; larger files take too long for a note. */
const mostBytes = 1024 * 1024;

/**
 * A note on a file that no longer parses, or on a new one that does not; undefined for all others. A file
 * that did not parse before may be in another dialect: JSON with comments, a template, code for another
 * runtime.
 */
export async function syntaxNote(
  path: string,
  before: Buffer | undefined,
  after: Buffer,
): Promise<string | undefined> {
  if (Math.max(after.length, before?.length ?? 0) > mostBytes) return undefined;
  const parse = await parserFor(path);
  const problem = parse && syntaxError(parse, after);
  if (!parse || problem === undefined || (before && syntaxError(parse, before) !== undefined))
    return undefined;
  // Comments or templates in a new file show that it is in another dialect.
  if (!before && /^[ \t]*(?:\/[/*]|\{\{|\{%)/m.test(after.toString())) return undefined;
  return `${displayPath(path)} ${before ? 'no longer parses' : 'does not parse'}: ${problem}`;
}

/** The parser for a file by its name; undefined when there is none. */
async function parserFor(path: string): Promise<Parse | undefined> {
  if (/\.(?:json|ipynb)$/i.test(path)) return JSON.parse as Parse;
  // Node has this function from 22.13 on.
  if (/\.[cm]?[jt]s$/i.test(path)) return (module as { stripTypeScriptTypes?: Parse }).stripTypeScriptTypes;
  if (!/\.ya?ml$/i.test(path)) return undefined;
  const { parseAllDocuments } = await import('yaml');
  return (text) => {
    for (const { errors } of [parseAllDocuments(text)].flat()) if (errors?.[0]) throw errors[0];
  };
}

/** The message of a parser in one line; undefined when the text parses. */
function syntaxError(parse: Parse, bytes: Buffer): string | undefined {
  const text = bytes.toString().replace(/^\ufeff/, '');
  try {
    if (text.trim() !== '') parse(text);
    return undefined;
  } catch (error) {
    return (error instanceof Error ? error.message : String(error)).trim().split('\n')[0]?.slice(0, 200);
  }
}
