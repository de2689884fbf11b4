import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { appendPrivately, readPrivateFile, writePrivateFile } from '../files/private-file.ts';
import { typable } from './paste.ts';

/** A longer entry is remembered only while the program runs. */
const longestEntry = 64 * 1024;

/** What was entered before, oldest first. */
export interface History {
  readonly entries: readonly string[];
  /** Remembers an entry. Blank ones, repeated ones and ones that begin with a space are not remembered. */
  add(entry: string): void;
}

/**
 * Opens the history in a file of its own: one JSON string a line, so that an entry may have several. Two programs may
 * use it at once: each line is appended with one write. Without a file, or with one that cannot be read or written,
 * the history ends with the program.
 */
export function openHistory(file: string | undefined, size = 1000): History {
  const { entries, inFile, broken } = file === undefined ? nothing() : read(file, size);
  // The line that a killed program left unfinished must not swallow the next one.
  let lineEnd = broken ? '\n' : '';
  if (file !== undefined && inFile > 4 * size) shorten(file, entries);
  return {
    entries,
    add(entry) {
      if (entry.trim() === '' || entry.startsWith(' ') || entry === entries.at(-1)) return;
      entries.push(entry);
      if (entries.length > size) entries.shift();
      if (file === undefined || entry.length > longestEntry) return;
      try {
        mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
        appendPrivately(file, `${lineEnd}${JSON.stringify(entry)}\n`);
        lineEnd = '';
      } catch {
        // A full or read-only disk is no reason to stop a conversation.
      }
    },
  };
}

const nothing = () => ({ entries: [] as string[], inFile: 0, broken: false });

function read(file: string, size: number): ReturnType<typeof nothing> {
  let text: string;
  try {
    text = readPrivateFile(file) ?? '';
  } catch {
    return nothing(); // the first time, or not ours to read
  }
  // Only LF ends a line: U+2028 may stand in an entry.
  const lines = text.split('\n');
  const broken = lines.pop() !== '';
  return { entries: lines.slice(-size).flatMap(parsed), inFile: lines.length, broken };
}

function parsed(line: string): string[] {
  try {
    const entry: unknown = JSON.parse(line);
    return typeof entry === 'string' ? [typable(entry)] : [];
  } catch {
    return []; // cut off when a program was killed
  }
}

/** Seldom, so that what another program appends at this very moment, and would be lost, is next to nothing. */
function shorten(file: string, entries: readonly string[]): void {
  try {
    writePrivateFile(file, entries.map((entry) => `${JSON.stringify(entry)}\n`).join(''));
  } catch {
    // It stays as long as it is.
  }
}
