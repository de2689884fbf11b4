import { stat } from 'node:fs/promises';
import type { Document } from 'yaml';
import type * as z from 'zod/mini';
import { nearest } from '../../core/nearest.ts';
import { ChatError } from '../errors.ts';
import { readRegularFile } from '../prompt/read-files.ts';

/** Far more than anybody writes by hand. */
const mostBytes = 1024 * 1024;

type Path = readonly PropertyKey[];

/**
 * What a YAML or JSON file holds, as the schema has it; undefined when there is no file. Keys that are left empty count
 * as left out. Throws CONFIG_INVALID with file and line, also for a file that everybody can write to: it names programs
 * to start. The schema, and what reads YAML, are loaded when there is a file.
 */
export async function readCheckedFile<S extends z.ZodMiniType>(
  file: string,
  loadSchema: () => Promise<S>,
): Promise<z.output<S> | undefined> {
  const text = await textOf(file);
  if (text === undefined) return undefined;
  const [{ default: yaml }, schema] = await Promise.all([import('yaml'), loadSchema()]);
  const lines = new yaml.LineCounter();
  const document = yaml.parseDocument(text, { lineCounter: lines, prettyErrors: false });
  const [broken] = document.errors;
  if (broken)
    throw invalid(`${file}:${lines.linePos(broken.pos[0]).line}:`, `it cannot be read: ${broken.message}`);
  const value = valueOf(document, file);
  const parsed = schema.safeParse(value ?? {}, { jitless: true });
  if (parsed.success) return parsed.data;
  const { path, says } = complaintOf(parsed.error, schema, value);
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

/** Undefined when there is none. */
async function textOf(file: string): Promise<string | undefined> {
  try {
    const { mode } = await stat(file);
    if (process.platform !== 'win32' && (mode & 0o002) !== 0)
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
  string: 'should be text.',
  boolean: 'should be true or false.',
  number: 'should be a number.',
  int: 'should be a whole number.',
  array: 'should be a list.',
  object: 'should be keys with values.',
  record: 'should be keys with values.',
};

/** What is wrong first of all, in a person's words, and where. */
export function complaintOf(
  { issues }: z.core.$ZodError,
  schema: z.ZodMiniType,
  value: unknown,
): { readonly path: Path; readonly says: string } {
  const issue = issues.find(({ code }) => code === 'unrecognized_keys') ?? issues[0];
  const { path = [], message = '' } = issue ?? {};
  const says = (text: string, where: Path = path) => ({ path: where, says: text });
  if (issue?.code === 'unrecognized_keys') {
    const [key = ''] = issue.keys;
    const known = keysAt(schema, path);
    return says(`is no known key.${hint(key, known) || ` Known are: ${known.join(', ')}.`}`, [...path, key]);
  }
  // Words of our own, as opposed to zod's.
  if (/^(?:should|cannot|is) /.test(message)) return says(message);
  if (path.length > 0 && at(value, path) === undefined) return says('is missing.');
  if (issue?.code === 'invalid_key') return says('is no name here.');
  if (issue?.code === 'invalid_type') return says(kinds[issue.expected] ?? `should be ${issue.expected}.`);
  if (issue?.code === 'invalid_value') return says(`should be one of ${issue.values.join(', ')}.`);
  return says(issue?.code === 'too_small' ? 'should not be empty.' : 'is not as it should be.');
}

const at = (value: unknown, path: Path): unknown =>
  path.reduce<unknown>((inner, key) => (inner as Record<PropertyKey, unknown> | undefined)?.[key], value);

interface Definition {
  readonly shape?: Readonly<Record<string, z.ZodMiniType>>;
  readonly valueType?: z.ZodMiniType;
  readonly element?: z.ZodMiniType;
  readonly innerType?: z.ZodMiniType;
}

/** The keys that may stand at a place. */
function keysAt(schema: z.ZodMiniType, path: Path): string[] {
  const definition = schema.def as Definition;
  if (definition.innerType) return keysAt(definition.innerType, path);
  const [step, ...rest] = path;
  if (step === undefined) return Object.keys(definition.shape ?? {});
  const next = definition.shape?.[String(step)] ?? definition.valueType ?? definition.element;
  return next ? keysAt(next, rest) : [];
}

/** ` Did you mean "…"?`, or nothing. */
export const hint = (word: string, words: readonly string[]): string => {
  const meant = nearest(word, words);
  return meant === undefined ? '' : ` Did you mean "${meant}"?`;
};

/** CONFIG_INVALID for a place in a file. */
export const invalid = (place: string, why: string, cause?: unknown): ChatError =>
  new ChatError('CONFIG_INVALID', `${place} ${why}`, { cause });
