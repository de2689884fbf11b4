import { stat } from 'node:fs/promises';
import type { Document } from 'yaml';
import type * as z from 'zod/mini';
import { permissionsIn } from '../../store/own-files.ts';
import { ChatError, hint } from '../errors.ts';
import { readRegularFile } from '../prompt/read-files.ts';

type Schemas = typeof import('./schemas.ts');

/** The size limit of a file: far more than anybody writes by hand. */
const mostBytes = 1024 * 1024;

/**
 * Reads a YAML or JSON file by its schema; undefined when there is no file. Keys that are left empty count as
 * left out. Throws CONFIG_INVALID with file and line, also for a file that everybody can write to: it names
 * programs to start. The schemas, and what reads YAML, are loaded when there is a file.
 */
export async function readCheckedFile<N extends 'chatFile' | 'mcpFile' | 'profile'>(
  file: string,
  kind: N,
): Promise<z.output<Schemas[N]> | undefined> {
  const text = await textOf(file);
  if (text === undefined) return undefined;
  const { yaml, chatFile, mcpFile, profile } = await import('./schemas.ts');
  const schemas = { chatFile, mcpFile, profile };
  const lines = new yaml.LineCounter();
  const document = yaml.parseDocument(text, { lineCounter: lines, prettyErrors: false });
  const [broken] = document.errors;
  if (broken)
    throw invalid(`${file}:${lines.linePos(broken.pos[0]).line}:`, `it cannot be read: ${broken.message}`);
  const parsed = checked(schemas[kind], valueOf(document, file) ?? {});
  if (!('path' in parsed)) return parsed.value as z.output<Schemas[N]>;
  const { path, says } = parsed;
  // The deepest thing on the path that is there.
  const nodes = path.map((_, at) => document.getIn(path.slice(0, at + 1), true)).filter(yaml.isNode);
  const { line } = lines.linePos(nodes.at(-1)?.range?.[0] ?? 0);
  throw invalid(`${file}:${line}:`, `${path.join('.') || 'it'} ${says}`);
}

/** Throws CONFIG_INVALID where aliases would stand for more than there is memory. */
function valueOf(document: Document, file: string): unknown {
  try {
    return document.toJS({ reviver: (_, each: unknown) => (each === null ? undefined : each) });
  } catch (error) {
    throw invalid(`${file}:`, `it cannot be read: ${(error as Error).message}.`, error);
  }
}

/** Reads a file; undefined when there is none. */
async function textOf(file: string): Promise<string | undefined> {
  try {
    const { mode } = await stat(file);
    if ((permissionsIn(mode) & 0o002) !== 0)
      throw invalid(file, `can be written by everybody. Run: chmod o-w '${file}'`);
    return (await readRegularFile(file, mostBytes)).toString();
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'CONFIG_INVALID') throw error;
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    throw invalid(file, `cannot be read (${error instanceof ChatError ? message : String(code)}).`, error);
  }
}

const kinds: Readonly<Record<string, string>> = {
  string: 'text',
  boolean: 'true or false',
  number: 'a number',
  int: 'a whole number',
  array: 'a list',
  object: 'keys with values',
  record: 'keys with values',
};

/** Words a problem that the schema has no message of its own for. */
function inWords(issue: z.core.$ZodRawIssue): string {
  if (issue.input === undefined) return 'is missing.';
  if (issue.code === 'invalid_type') return `should be ${kinds[issue.expected] ?? issue.expected}.`;
  if (issue.code === 'invalid_value') return `should be one of ${issue.values.join(', ')}.`;
  if (issue.code === 'unrecognized_keys') {
    const known = Object.keys((issue.inst as z.core.$ZodObject)._zod.def.shape);
    return `is no known key.${hint(issue.keys[0] ?? '', known) || ` Known are: ${known.join(', ')}.`}`;
  }
  if (issue.code === 'invalid_key') return 'is no name here.';
  return issue.code === 'too_small' ? 'should not be empty.' : 'is not as it should be.';
}

/** A value as the schema has it, or what is wrong with it first of all, in a person's words, and where. */
export function checked<S extends z.ZodMiniType>(
  schema: S,
  value: unknown,
): { readonly value: z.output<S> } | { readonly path: readonly PropertyKey[]; readonly says: string } {
  const { success, data, error } = schema.safeParse(value, { jitless: true, error: inWords });
  if (success) return { value: data };
  const wrongKey = error.issues.find((issue) => issue.code === 'unrecognized_keys');
  const { path = [], message: says = '' } = wrongKey ?? error.issues[0] ?? {};
  return { path: wrongKey ? [...path, wrongKey.keys[0] ?? ''] : path, says };
}

/** CONFIG_INVALID for a place in a file. */
export const invalid = (place: string, why: string, cause?: unknown): ChatError =>
  new ChatError('CONFIG_INVALID', `${place} ${why}`, { cause });
