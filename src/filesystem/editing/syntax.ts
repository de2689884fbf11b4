import module from 'node:module';
import { shownPath } from '../../machine/paths/shown-path.ts';

type Parse = (text: string) => unknown;

/** What is larger takes longer to parse than its answer is worth. */
const mostBytes = 1024 * 1024;

/** Node has it from 22.13 on. */
const { stripTypeScriptTypes } = module as { stripTypeScriptTypes?: (code: string) => string };

/** The parsers that are at hand, by the end of a name. */
const parsers: readonly (readonly [name: RegExp, load: () => Promise<Parse | undefined>])[] = [
  [/\.(?:json|ipynb)$/i, async () => JSON.parse as Parse],
  [
    /\.ya?ml$/i,
    () =>
      import('yaml').then(
        ({ parseAllDocuments }) =>
          (text) =>
            firstError(parseAllDocuments(text)),
      ),
  ],
  [/\.[cm]?[jt]s$/i, async () => stripTypeScriptTypes],
];

function firstError(documents: unknown): void {
  for (const { errors } of documents as { errors: Error[] }[]) if (errors[0]) throw errors[0];
}

/**
 * A line about a file that does not parse any more, or that is made and does not; undefined for all others. One that
 * did not parse before may be of another dialect: JSON with comments, a template, code for another runtime.
 */
export async function syntaxNote(
  path: string,
  before: Buffer | undefined,
  after: Buffer,
): Promise<string | undefined> {
  const load = parsers.find(([name]) => name.test(path))?.[1];
  if (!load || after.length > mostBytes || (before && before.length > mostBytes)) return undefined;
  const parse = await load();
  const wrong = parse && complaint(parse, after);
  if (!parse || wrong === undefined || (before && complaint(parse, before) !== undefined)) return undefined;
  // Comments in a new file say that it is meant so.
  if (!before && /^[ \t]*(?:\/[/*]|\{\{|\{%)/m.test(after.toString())) return undefined;
  return `${shownPath(path)} ${before ? 'no longer parses' : 'does not parse'}: ${wrong}`;
}

function complaint(parse: Parse, bytes: Buffer): string | undefined {
  const text = bytes.toString().replace(/^\ufeff/, '');
  if (text.trim() === '') return undefined;
  try {
    parse(text);
    return undefined;
  } catch (error) {
    const [first = ''] = (error instanceof Error ? error.message : String(error)).trim().split('\n');
    return first.slice(0, 200);
  }
}
