import * as z from 'zod';
import { ToolcribError } from './errors.ts';
import { bare, definitionOf, mayBeAbsent } from './schema.ts';

/** Names and values that are taken for a parameter beside what is published. */
interface Accepted {
  /** Other names for it. Camel case and dashes need not be among them. */
  readonly names: readonly string[];
  /** Other words for its values, and what they mean. */
  readonly values?: Readonly<Record<string, string>>;
  readonly unlisted?: boolean;
  readonly several?: boolean;
  /** An object or list in the place of a text: its JSON is meant. */
  readonly json?: boolean;
  /** A text that also comes as a list of its words: what they make. */
  readonly joined?: (words: readonly string[]) => string;
}

/** Private, so it never reaches the JSON Schema a model sees. */
const accepted = z.registry<Accepted>();

/**
 * A parameter that models also know by other names, with blanks between. Said last: it belongs to this very
 * schema.
 */
export function also<T extends z.ZodType>(schema: T, names: string, more: Omit<Accepted, 'names'> = {}): T {
  accepted.add(schema, { names: listed(names), ...more });
  return schema;
}

const listed = (names: string): string[] => names.split(' ').filter(Boolean);

/** A parameter that is taken and not published: an answer names it where it helps, or models bring it. */
export const unlisted = <T extends z.ZodType>(schema: T, names = ''): T =>
  also(schema, names, { unlisted: true });

/** One or several, published as one. */
export const orSeveral = <T extends z.ZodType>(item: T, most: number, names = '') =>
  also(z.array(item).min(1).max(most), names, { several: true });

/** The names and values taken for a schema, or for the one that it makes optional. */
export function acceptedOf(schema: z.ZodType): Accepted | undefined {
  const { innerType } = definitionOf(schema);
  return accepted.get(schema) ?? (innerType && acceptedOf(innerType));
}

/**
 * Arguments in the form that a schema has: other names become its own, and values that arrived as text become
 * what it asks for. Whatever cannot be understood stays, and is refused by the schema. Throws ARG_INVALID for
 * two names of one parameter with two values.
 */
export function inAcceptedForm(schema: z.ZodType, given: unknown): unknown {
  const inner = bare(schema);
  const { type, shape, element, entries } = definitionOf(inner);
  const value = typeof given === 'string' ? fromText(type, given) : given;
  // Words in one text are never split, and would not be one value.
  const isWords = typeof value === 'string' && /\s/.test(value) && !acceptedOf(schema)?.several;
  if (type === 'array' && element && value !== undefined && value !== null && !isWords)
    return [value].flat(1).map((item: unknown) => inAcceptedForm(element, item));
  if (type === 'object' && shape && typeof value === 'object' && value !== null && !Array.isArray(value))
    return withOwnNames(shape, value as Record<string, unknown>);
  if (acceptedOf(schema)?.json && typeof value === 'object' && value !== null)
    return `${JSON.stringify(value, null, 2)}\n`;
  if (type === 'string' && Array.isArray(value) && value.every((one) => typeof one === 'string'))
    return value.length === 1 ? value[0] : (acceptedOf(schema)?.joined?.(value) ?? value);
  const words = acceptedOf(schema)?.values;
  if (typeof value === 'string' && words && Object.hasOwn(words, value)) return words[value];
  return type === 'enum' && typeof value === 'string' ? sameWord(Object.keys(entries ?? {}), value) : value;
}

/** The one of the words that is written otherwise: `cherry-pick`, `get`. */
const sameWord = (words: readonly string[], value: string): string =>
  words.includes(value) ? value : (words.find((word) => folded(word) === folded(value)) ?? value);

/** Text in the place of something else: `"5"`, `"true"`, and lists and objects as JSON. */
function fromText(type: string, text: string): unknown {
  if (type === 'number' && /^\s*-?\d+(?:\.\d+)?\s*$/.test(text)) return Number(text);
  if (type === 'boolean' && /^(?:true|false)$/i.test(text)) return text.toLowerCase() === 'true';
  const opens = { array: '[', object: '{', record: '{' }[type];
  // A list of objects may come as the JSON of one.
  if (opens === undefined || !/^\s*[[{]/.test(text)) return text;
  try {
    const value: unknown = JSON.parse(text);
    return type === 'array' || Array.isArray(value) === (opens === '[') ? value : text;
  } catch {
    // A text that begins with a bracket; the schema tells whether it is welcome.
    return text;
  }
}

function withOwnNames(
  shape: Readonly<Record<string, z.ZodType>>,
  given: Record<string, unknown>,
): Record<string, unknown> {
  const named: Record<string, unknown> = Object.create(null) as Record<string, unknown>;
  for (const [key, value] of Object.entries(given)) {
    const name = ownName(shape, key);
    const schema = Object.hasOwn(shape, name) ? shape[name] : undefined;
    if (!schema && isSaid(shape, key)) continue;
    // Some models give every parameter, those they do not want as null.
    if (value === null && schema && mayBeAbsent(schema)) continue;
    const formed = schema ? inAcceptedForm(schema, value) : value;
    if (Object.hasOwn(named, name) && JSON.stringify(named[name]) !== JSON.stringify(formed))
      throw new ToolcribError(
        'ARG_INVALID',
        `${key}: is another name of ${name}, which says something else.`,
      );
    named[name] = formed;
  }
  return { ...named };
}

/**
 * Names that models have for these parameters wherever they meet them, whatever a tool says: the hosts' own
 * tools have taught them. A name counts where the tool has no such parameter; of several that it could mean,
 * the first.
 */
const usualNames: Readonly<Record<string, string>> = {
  paths: 'path files file file_path file_paths',
  cwd:
    'workdir working_directory working_dir dir_path directory repo_path repository_path repo ' +
    'workspace_folder ' +
    'workspace_path project_path path',
  limit: 'max_count count n max_results head_limit',
  ref: 'revision commit rev sha commit_hash hash object branch range revision_range',
  from: 'base base_ref commit ref revision target',
  to: 'head head_ref',
  staged: 'cached index',
  message: 'm msg commit_message',
  all: 'add_all stage_all',
  branch: 'branch_name name ref',
  commits: 'commit sha revision ref',
  start: 'start_point base_branch base',
  remote: 'remote_name',
  packages: 'package package_list names dependencies',
  only: 'files file tests test_names paths',
  task: 'name script id target',
  action: 'name action_name tool tool_name',
  arguments: 'args parameters params input',
  sql: 'query statement sql_query',
  database: 'db db_path database_path path file',
  query: 'search_term q',
  url: 'urls uri href',
  id: 'session_id terminal_id job_id handle',
};
const usual = Object.entries(usualNames).map(
  ([name, others]) => [name, new Set(listed(others).map((other) => folded(other)))] as const,
);
/** Words that models say beside a call, for the host or a person; it changes nothing of what is done. */
const said: ReadonlySet<string> = new Set(
  listed(
    'explanation instruction instructions goal reason justification thought prompt ' +
      'aiproposedcontent modifiedbyuser ' +
      'yieldtimems maxoutputtokens timeout timeoutms requiredpermissions sandboxpermissions ' +
      'withescalatedpermissions shouldreadentirefile respectgitignore expectedreplacements ' +
      'oneline porcelain short',
  ),
);
/** Parameters beside which a description is a part of what is asked for. */
const texts = ['body', 'message', 'text', 'title', 'summary'];
const isSaid = (shape: Readonly<Record<string, z.ZodType>>, key: string): boolean =>
  said.has(folded(key)) || (key === 'description' && texts.every((name) => !Object.hasOwn(shape, name)));

function folded(name: string): string {
  return name.toLowerCase().replaceAll(/(?<=.)[_-]/g, '');
}

function ownName(shape: Readonly<Record<string, z.ZodType>>, key: string): string {
  if (Object.hasOwn(shape, key)) return key;
  const names = Object.entries(shape);
  const exact = names.find(([, schema]) => acceptedOf(schema)?.names.includes(key));
  if (exact) return exact[0];
  const wanted = folded(key);
  const found = names.find(([name, schema]) =>
    [name, ...(acceptedOf(schema)?.names ?? [])].some((each) => folded(each) === wanted),
  );
  const other = usual.find(([name, others]) => Object.hasOwn(shape, name) && others.has(wanted));
  return found?.[0] ?? other?.[0] ?? key;
}
