import { closeSync, constants, openSync, writeFileSync } from 'node:fs';
import { readPrivate } from '../folders.ts';

const { O_WRONLY, O_APPEND, O_CREAT, O_NOFOLLOW = 0, O_NONBLOCK = 0 } = constants;
// A FIFO must neither block nor take the lines.
const adding = O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK;

/** Adds a line to a private file, also behind one that was cut short. Throws what the system says. */
export function appendLine(path: string, value: unknown): void {
  const fd = openSync(path, adding, 0o600);
  try {
    writeFileSync(fd, linesOf([value]));
  } finally {
    closeSync(fd);
  }
}

/** Oldest first, without what was cut short; a file that cannot be read has no lines. */
export const readLines = (folder: string, name: string): unknown[] =>
  parseLines(readPrivate(folder, name)?.toString() ?? '');

export const parseLines = (text: string): unknown[] =>
  text.split('\n').flatMap((line) => {
    try {
      return line === '' ? [] : [JSON.parse(line) as unknown];
    } catch {
      return [];
    }
  });

export const linesOf = (values: readonly unknown[]): string =>
  values.map((value) => `\n${JSON.stringify(value)}`).join('');
