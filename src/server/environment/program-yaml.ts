import { LineCounter, isNode, parseDocument, visit } from 'yaml';
import type * as z from 'zod';
import type { Program } from '../../core/program.ts';
import { programFile, programFrom } from '../../discoverers/shared/program-file.ts';

type Parsed = { readonly of: Program } | { readonly line: number; readonly wrong: string };

/** The program that a YAML text describes, or the first line that is wrong. */
export function parseProgram(text: string, least: readonly 'execute'[]): Parsed {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, uniqueKeys: true });
  const at = (offset = 0, wrong = '') => ({ line: lines.linePos(offset).line, wrong });
  const [error] = document.errors;
  if (error) return at(error.pos[0], error.message.split('\n')[0]);
  // A few of them can stand for more than there is memory.
  const aliases: (number | undefined)[] = [];
  visit(document, {
    Alias: (_key, { range }) => {
      aliases.push(range?.[0]);
    },
  });
  if (aliases.length > 0) return at(aliases[0], 'write it out: aliases (*name) are not read.');
  const parsed = programFile.safeParse(document.toJS());
  if (parsed.success) return { of: programFrom(parsed.data, least) };
  const { path, says } = complaintOf(parsed.error);
  // The deepest thing on the path that is there.
  const nodes = path.map((_, depth) => document.getIn(path.slice(0, path.length - depth), true));
  return at(nodes.find(isNode)?.range?.[0], says);
}

/** The first mistake. */
function complaintOf({ issues }: z.ZodError) {
  // A misspelt key is what a missing one comes from.
  const issue = issues.find(({ code }) => code === 'unrecognized_keys') ?? issues[0];
  const stray = issue?.code === 'unrecognized_keys' ? issue.keys.slice(0, 1) : [];
  const path = [...(issue?.path ?? []), ...stray];
  const says = (issue?.message ?? '').replace(/^Invalid (?:input|option): /, '');
  const wrong = stray.length > 0 ? 'there is no such key; docs/program.schema.json has all' : says;
  return { path, says: `${path.map(String).join('.')}: ${wrong}.` };
}
