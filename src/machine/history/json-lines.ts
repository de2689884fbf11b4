import { closeSync, constants, openSync, writeSync } from 'node:fs';
import { readPrivate } from '../folders.ts';

const { O_WRONLY, O_APPEND, O_CREAT, O_NOFOLLOW = 0, O_NONBLOCK = 0 } = constants;
// A FIFO must neither block nor take the lines.
const adding = O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK;

/** Adds a line to a private file, also behind one that was cut short. Throws what the system says. */
export function appendLine(path: string, value: unknown): void {
  const line = Buffer.from(linesOf([value]));
  const fd = openSync(path, adding, 0o600);
  try {
    for (let done = 0; done < line.length;) done += writeSync(fd, line, done);
  } finally {
    closeSync(fd);
  }
}

/** Oldest first, without what was cut short; a file that cannot be read has no lines. */
export const readLines = (folder: string, name: string, last?: number): unknown[] =>
  parseLines(readPrivate(folder, name)?.toString() ?? '', last);

export function parseLines(text: string, last = Infinity): unknown[] {
  const lines = text.split('\n');
  return lines.slice(Math.max(0, lines.length - last)).flatMap((line) => {
    try {
      return line === '' ? [] : [JSON.parse(line) as unknown];
    } catch {
      return [];
    }
  });
}

export const linesOf = (values: readonly unknown[]): string =>
  values.map((value) => `\n${JSON.stringify(value)}`).join('');
