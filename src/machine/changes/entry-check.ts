import { basename, isAbsolute, normalize } from 'node:path';
import type { Entry, Facts } from './change.ts';
import type { Splice } from './splice.ts';

type Unknown<T> = { readonly [K in keyof T]?: unknown };

const idPattern = /^[0-9a-z]{1,20}-[0-9a-z]{1,20}$/;
const hashPattern = /^(?:[0-9a-f]{64})?$/;

/** Whether it is a name that `temporaryName` gives: only such a thing is ever removed when a process has died. */
export const isTemporaryName = (name: unknown): name is string =>
  typeof name === 'string' && /^\.toolcrib-[0-9a-f]{16}\.tmp$/.test(name);

export const isTemporaryPath = (path: unknown): path is string =>
  isRealPath(path) && isTemporaryName(basename(path));

/**
 * Whether a value is a change as this program notes it down. What is in the journal can come from anywhere when the
 * folder does: its names are parts of paths, so none may lead out of it.
 */
export function isEntry(value: unknown): value is Entry {
  if (typeof value !== 'object' || value === null) return false;
  const { id, at, kind, path, step, temporary, ...more }: Unknown<Entry> = value;
  return (
    isId(id) &&
    typeof at === 'number' &&
    typeof kind === 'string' &&
    isRealPath(path) &&
    ['write', 'remove', 'restore', 'move'].includes(step as string) &&
    isTemporaryName(temporary) &&
    isRest(more)
  );
}

function isRest({ to, before, after, added, removed, undoes, splice, made, copy }: Unknown<Entry>): boolean {
  return (
    isOr(to, isRealPath) &&
    isOr(before, isFacts) &&
    isOr(after, isFacts) &&
    [added, removed, copy].every((each) => isOr(each, isNumber)) &&
    isOr(undoes, isId) &&
    isOr(splice, isSplice) &&
    isOr(made, (folders) => Array.isArray(folders) && folders.every(isRealPath))
  );
}

const isOr = (value: unknown, is: (value: unknown) => boolean): boolean => value === undefined || is(value);

const isNumber = (value: unknown): boolean => typeof value === 'number';

const isId = (value: unknown): boolean => typeof value === 'string' && idPattern.test(value);

const isRealPath = (value: unknown): value is string =>
  typeof value === 'string' && !value.includes('\0') && isAbsolute(value) && normalize(value) === value;

function isFacts(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  const { kind, size, entries, hash }: Unknown<Facts> = value;
  return (
    ['file', 'link', 'folder', 'other'].includes(kind as string) &&
    typeof size === 'number' &&
    size >= 0 &&
    isOr(entries, isNumber) &&
    isOr(hash, (text) => typeof text === 'string' && hashPattern.test(text))
  );
}

function isSplice(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  const { start, removed, inserted }: Unknown<Splice> = value;
  return isNumber(start) && isNumber(removed) && typeof inserted === 'string';
}
