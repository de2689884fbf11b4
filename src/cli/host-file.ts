import { isDeepStrictEqual } from 'node:util';
import { ToolcribError } from '../core/errors.ts';
import { Damaged, isRecord, type Format } from './host-format.ts';
import { json } from './json-splice.ts';
import { toml } from './toml-splice.ts';
import { yaml } from './yaml-splice.ts';

/** A value at a path of a configuration; undefined removes what is there. */
export interface Setting {
  readonly under: readonly string[];
  readonly value: unknown;
}

const formatOf = (file: string): Format =>
  file.endsWith('.toml') ? toml : /\.ya?ml$/.test(file) ? yaml : json;

/** Reads the value at a path of a file. Throws CONFIG_INVALID where the file is damaged. */
export function settingIn(file: string, text: string, path: readonly string[]): unknown {
  return valueAt(parsed(file, text.replace(mark, '')), path);
}

/**
 * Changes some settings of a text, and leaves the rest as it was, to the byte: comments, indentation, line
 * ends. Throws CONFIG_INVALID for a damaged text, and where the result would mean anything else than the old
 * text with these settings.
 */
export function withSettings(file: string, text: string, settings: readonly Setting[]): string {
  const start = mark.exec(text)?.[0] ?? '';
  let result = text.slice(start.length);
  for (const setting of settings) result = withSetting(file, result, setting);
  return start + result;
}

/**
 * Removes a setting from a text. Returns `backup` if that lacks the setting and makes exactly this text
 * together with it.
 */
export function withoutSetting(
  file: string,
  text: string,
  under: readonly string[],
  backup?: string,
): string {
  const value = settingIn(file, text, under);
  if (value === undefined) return text;
  if (backup !== undefined && isMadeOf(file, backup, { under, value }, text)) return backup;
  return withSettings(file, text, [{ under, value: undefined }]);
}

function isMadeOf(file: string, backup: string, setting: Setting, text: string): boolean {
  try {
    if (settingIn(file, backup, setting.under) !== undefined) return false;
    return withSettings(file, backup, [setting]) === text;
  } catch (error) {
    // Where the copy is damaged or says something else, the text itself counts.
    if (error instanceof ToolcribError) return false;
    throw error;
  }
}

/** The byte order mark with which some editors begin a file. */
const mark = /^\uFEFF/;

function withSetting(file: string, text: string, { under, value }: Setting): string {
  const before = parsed(file, text);
  const current = valueAt(before, under);
  if (value === undefined && current === undefined) return text;
  refuseOther(file, before, under);
  if (isDeepStrictEqual(current, value)) return text;
  const after = spliced(file, text, { under, value }, current);
  if (after !== undefined && means(file, after, changed(before ?? {}, under, value), under)) return after;
  throw new ToolcribError(
    'CONFIG_INVALID',
    `${file}: ${under.join('.')} cannot be changed without changing something else; nothing was written.`,
    'Put there yourself what `config HOST` prints without --write.',
  );
}

/**
 * True where a text means exactly the expected value. Empty objects along the path do not count: whether they
 * stay is a matter of taste.
 */
function means(file: string, text: string, expected: unknown, path: readonly string[]): boolean {
  try {
    return isDeepStrictEqual(cleaned(formatOf(file).parse(text), path), cleaned(expected, path));
  } catch (error) {
    if (error instanceof Damaged) return false;
    throw error;
  }
}

/** Changes a setting in a text; undefined where the format has no place for it. */
function spliced(file: string, text: string, { under, value }: Setting, current: unknown) {
  const { put, take } = formatOf(file);
  try {
    if (value === undefined) return take(text, under);
    if (!isRecord(current) || !isRecord(value) || Object.keys(current).length === 0)
      return put(text, under, value);
    let result = text;
    for (const key of Object.keys(value))
      if (!isDeepStrictEqual(current[key], value[key])) result = put(result, [...under, key], value[key]);
    for (const key of Object.keys(current))
      if (!Object.hasOwn(value, key)) result = take(result, [...under, key]);
    return result;
  } catch (error) {
    if (error instanceof Damaged || error instanceof SyntaxError || error instanceof RangeError)
      return undefined;
    throw error;
  }
}

function parsed(file: string, text: string): unknown {
  try {
    return formatOf(file).parse(text);
  } catch (error) {
    if (!(error instanceof Damaged)) throw error;
    const line = error.line === undefined ? '' : `:${error.line}`;
    const problem = `${file}${line}: ${error.message}.`;
    throw new ToolcribError('CONFIG_INVALID', problem, 'Mend it first; nothing was written.');
  }
}

const valueAt = (value: unknown, path: readonly string[]): unknown =>
  path.reduce((inner, key) => (isRecord(inner) && Object.hasOwn(inner, key) ? inner[key] : undefined), value);

/** Throws CONFIG_INVALID where a path leads through something that is no object. */
function refuseOther(file: string, value: unknown, path: readonly string[]): void {
  for (const at of path.keys()) {
    const inner = valueAt(value, path.slice(0, at));
    if (inner === undefined || inner === null || isRecord(inner)) continue;
    const name = at === 0 ? 'it' : path.slice(0, at).join('.');
    throw new ToolcribError(
      'CONFIG_INVALID',
      `${file}: ${name} is no object.`,
      'Mend it first; nothing was written.',
    );
  }
}

/** Replaces what is at a path of a value; undefined removes it. */
function changed(value: unknown, [key, ...rest]: readonly string[], leaf: unknown): unknown {
  if (key === undefined) return leaf;
  const { [key]: inner, ...others } = isRecord(value) ? value : {};
  const next = changed(inner, rest, leaf);
  return next === undefined ? others : { ...others, [key]: next };
}

/** Removes what is empty along a path of a value. */
function cleaned(value: unknown, [key, ...rest]: readonly string[]): unknown {
  if (key === undefined) return value ?? undefined;
  if (!isRecord(value)) return value ?? {};
  const { [key]: entry, ...others } = value;
  const inner = cleaned(entry, rest);
  const isEmpty = inner === undefined || (rest.length > 0 && isDeepStrictEqual(inner, {}));
  return isEmpty ? others : { ...others, [key]: inner };
}
