import { LineCounter, isNode, parseDocument, visit, type Document } from 'yaml';
import * as z from 'zod';
import { nearest } from '../core/nearest.ts';
import type { Program } from '../core/program.ts';
import { programFile, programFrom } from '../discoverers/shared/program-file.ts';

type Parsed = { readonly of: Program } | { readonly line: number; readonly wrong: string };

/** The program that a YAML text describes, or the first line that is wrong. */
export function parseProgram(text: string, least: readonly 'execute'[]): Parsed {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, uniqueKeys: true });
  const [error] = document.errors;
  const lineAt = (offset: number) => lines.linePos(offset).line;
  if (error)
    return { line: lineAt(error.pos[0]), wrong: error.message.split('\n')[0] ?? 'it does not parse.' };
  const alias = aliasIn(document);
  if (alias !== undefined)
    return { line: lineAt(alias), wrong: 'write it out: aliases (*name) are not read.' };
  const parsed = programFile.safeParse(document.toJS());
  if (parsed.success) return { of: programFrom(parsed.data, least) };
  const { path, says } = complaintOf(parsed.error);
  return { line: lineOf(path), wrong: says };

  /** The line of the deepest thing on a path that is there. */
  function lineOf(wanted: readonly PropertyKey[]): number {
    for (let depth = wanted.length; depth > 0; depth--) {
      const node = document.getIn(wanted.slice(0, depth), true);
      if (isNode(node) && node.range) return lineAt(node.range[0]);
    }
    return 1;
  }
}

/** What is wrong at the first place that is. */
function complaintOf({ issues }: z.ZodError): {
  readonly path: readonly PropertyKey[];
  readonly says: string;
} {
  // A misspelt key is what a missing one comes from.
  const issue = issues.find(({ code }) => code === 'unrecognized_keys') ?? issues[0];
  if (!issue) return { path: [], says: 'cannot be understood.' };
  const place = issue.path.map(String).join('.');
  if (issue.code === 'unrecognized_keys') {
    const [key = ''] = issue.keys;
    const known = keysAt(issue.path);
    const best = nearest(key, known);
    const meant = best ? `; did you mean ${best}?` : `. They are ${known.join(', ')}.`;
    return {
      path: [...issue.path, key],
      says: `${place && `${place}.`}${key}: there is no such key${meant}`,
    };
  }
  return { path: issue.path, says: `${place}: ${issue.message.replace(/^Invalid (?:input|option): /, '')}.` };
}

/** Where the first alias is: a few of them can stand for more than there is memory. */
function aliasIn(document: Document): number | undefined {
  let found: number | undefined;
  visit(document, {
    Alias(_key, node) {
      found = node.range?.[0] ?? 0;
      return visit.BREAK;
    },
  });
  return found;
}

/** The keys that may stand at a place. */
function keysAt(path: readonly PropertyKey[]): string[] {
  let schema: unknown = z.toJSONSchema(programFile, { io: 'input' });
  for (const step of path) {
    const { properties, additionalProperties, items } = schema as Record<string, Record<string, unknown>>;
    schema = properties?.[String(step)] ?? additionalProperties ?? items;
  }
  return Object.keys((schema as { properties?: object } | undefined)?.properties ?? {});
}
