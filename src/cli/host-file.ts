import { isDeepStrictEqual } from 'node:util';
import { ToolcribError } from '../core/errors.ts';
import { Damaged, isRecord, type Format } from './host-format.ts';
import { json } from './json-splice.ts';
import { toml } from './toml-splice.ts';
import { yaml } from './yaml-splice.ts';

/** A value at a place of a configuration; undefined takes away what is there. */
export interface Setting {
  readonly under: readonly string[];
  readonly value: unknown;
}

const formatOf = (file: string): Format =>
  file.endsWith('.toml') ? toml : /\.ya?ml$/.test(file) ? yaml : json;

/** What a file says at a path. Throws CONFIG_INVALID where it is damaged. */
export function settingIn(file: string, text: string, path: readonly string[]): unknown {
  return valueAt(parsed(file, text.replace(mark, '')), path);
}

/**
 * A text with some settings made, and all the rest as it was, to the byte: comments, indentation, line ends.
 * Throws CONFIG_INVALID for a damaged text, and where the result would say anything else than the text did
 * and the settings.
 */
export function withSettings(file: string, text: string, settings: readonly Setting[]): string {
  const start = mark.exec(text)?.[0] ?? '';
  return start + settings.reduce((so, one) => withSetting(file, so, one), text.slice(start.length));
}

/** A text without a setting: `kept`, if that has none and makes exactly this text together with it. */
export function withoutSetting(file: string, text: string, under: readonly string[], kept?: string): string {
  const value = settingIn(file, text, under);
  if (value === undefined) return text;
  if (kept !== undefined && isMadeOf(file, kept, { under, value }, text)) return kept;
  return withSettings(file, text, [{ under, value: undefined }]);
}

function isMadeOf(file: string, kept: string, setting: Setting, text: string): boolean {
  try {
    if (settingIn(file, kept, setting.under) !== undefined) return false;
    return withSettings(file, kept, [setting]) === text;
  } catch (error) {
    // The copy is damaged or says something else: the text itself counts.
    if (error instanceof ToolcribError) return false;
    throw error;
  }
}

/** The byte order mark that some editors begin a file with. */
const mark = /^\uFEFF/;

function withSetting(file: string, text: string, { under, value }: Setting): string {
  const before = parsed(file, text);
  const there = valueAt(before, under);
  if (value === undefined && there === undefined) return text;
  refuseOther(file, before, under);
  if (isDeepStrictEqual(there, value)) return text;
  const after = spliced(file, text, { under, value }, there);
  if (after !== undefined && says(file, after, changed(before ?? {}, under, value), under)) return after;
  throw new ToolcribError(
    'CONFIG_INVALID',
    `${file}: ${under.join('.')} cannot be changed without changing something else; nothing was written.`,
    'Put there yourself what `config HOST` prints without --write.',
  );
}

/** A text says exactly this, but for what is empty along a path: whether that stays is a matter of taste. */
function says(file: string, text: string, wanted: unknown, path: readonly string[]): boolean {
  try {
    return isDeepStrictEqual(cleaned(formatOf(file).parse(text), path), cleaned(wanted, path));
  } catch (error) {
    if (error instanceof Damaged) return false;
    throw error;
  }
}

/** Undefined where the format has no place for it. */
function spliced(file: string, text: string, { under, value }: Setting, there: unknown): string | undefined {
  const { put, take } = formatOf(file);
  try {
    if (value === undefined) return take(text, under);
    if (!isRecord(there) || !isRecord(value) || Object.keys(there).length === 0)
      return put(text, under, value);
    const keys = Object.keys(value).filter((key) => !isDeepStrictEqual(there[key], value[key]));
    const added = keys.reduce((so, key) => put(so, [...under, key], value[key]), text);
    const gone = Object.keys(there).filter((key) => !Object.hasOwn(value, key));
    return gone.reduce((so, key) => take(so, [...under, key]), added);
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
  path.reduce((so, key) => (isRecord(so) && Object.hasOwn(so, key) ? so[key] : undefined), value);

/** Throws where a path leads through something that is no object. */
function refuseOther(file: string, value: unknown, path: readonly string[]): void {
  for (const at of path.keys()) {
    const one = valueAt(value, path.slice(0, at));
    if (one === undefined || one === null || isRecord(one)) continue;
    const name = at === 0 ? 'it' : path.slice(0, at).join('.');
    throw new ToolcribError(
      'CONFIG_INVALID',
      `${file}: ${name} is no object.`,
      'Mend it first; nothing was written.',
    );
  }
}

/** A value with another one at a path; undefined takes it away. */
function changed(value: unknown, [key, ...rest]: readonly string[], leaf: unknown): unknown {
  if (key === undefined) return leaf;
  const { [key]: one, ...others } = isRecord(value) ? value : {};
  const next = changed(one, rest, leaf);
  return next === undefined ? others : { ...others, [key]: next };
}

/** A value without what is empty along a path. */
function cleaned(value: unknown, [key, ...rest]: readonly string[]): unknown {
  if (key === undefined) return value ?? undefined;
  if (!isRecord(value)) return value ?? {};
  const { [key]: one, ...others } = value;
  const inner = cleaned(one, rest);
  const isEmpty = inner === undefined || (rest.length > 0 && isDeepStrictEqual(inner, {}));
  return isEmpty ? others : { ...others, [key]: inner };
}
