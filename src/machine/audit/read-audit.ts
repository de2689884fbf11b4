import { closeSync, constants, fstatSync, openSync, readSync, type Stats } from 'node:fs';
import { isPrivate } from '../folders.ts';
import { logNames } from './log.ts';

/** A line of the audit, as it was written; a reader must expect anything of it. */
export type AuditLine = Readonly<Record<string, unknown>>;

/** A portion that is read at a time. */
const portion = 1024 * 1024;

const noFollow = constants.O_NOFOLLOW ?? 0;
const nonBlocking = constants.O_NONBLOCK ?? 0;

/** Reads what was not read before, of all files, the oldest first. */
export interface AuditReader {
  /** The last `most` of the wanted lines that have been completed since the last time; what is no line is left out. */
  more(wanted: (line: AuditLine) => boolean, most?: number): AuditLine[];
}

/** How far a file has been read, whatever it is called by now. */
interface Progress {
  readonly id: string;
  at: number;
  rest: Buffer;
}

/** A reader of the audit in a folder, which need not be there yet. */
export function createAuditReader(folder: string): AuditReader {
  let known = new Map<string, Progress>();
  return {
    more(wanted, most = Infinity) {
      const lines: AuditLine[] = [];
      const take = (line: AuditLine) => {
        if (!wanted(line)) return;
        lines.push(line);
        // Dropped seldom, at twice the number.
        if (lines.length > 2 * most + 1000) lines.splice(0, lines.length - most);
      };
      const seen = new Map<string, Progress>();
      for (const name of namesIn(folder)) {
        const read = readOn(`${folder}/${name}`, known, take);
        if (read) seen.set(read.id, read);
      }
      // What is gone is forgotten: its number may be given to a new file.
      known = seen;
      return most === 0 ? [] : lines.slice(-most);
    },
  };
}

function namesIn(folder: string): string[] {
  try {
    return isPrivate(folder) ? logNames(folder) : [];
  } catch {
    // Not there yet, or not to be read: nothing has been recorded.
    return [];
  }
}

function readOn(
  path: string,
  known: ReadonlyMap<string, Progress>,
  take: (line: AuditLine) => void,
): Progress | undefined {
  let opened: number | undefined;
  try {
    opened = openSync(path, constants.O_RDONLY | noFollow | nonBlocking);
    const facts = fstatSync(opened);
    if (!facts.isFile()) return undefined;
    const id = idOf(facts);
    const before = known.get(id);
    const progress = before && before.at <= facts.size ? before : { id, at: 0, rest: Buffer.alloc(0) };
    for (let bytes = readAt(opened, progress.at); bytes.length > 0; bytes = readAt(opened, progress.at)) {
      progress.at += bytes.length;
      progress.rest = takeLines(Buffer.concat([progress.rest, bytes]), take);
    }
    return progress;
  } catch {
    // Renamed or removed in between: it is found under its new name the next time, or not any more.
    return undefined;
  } finally {
    if (opened !== undefined) closeSync(opened);
  }
}

/** A file's number can be given again; together with its birth it is its own. */
const idOf = ({ dev, ino, birthtimeMs }: Stats): string => `${dev}:${ino}:${birthtimeMs}`;

function readAt(opened: number, at: number): Buffer {
  const bytes = Buffer.alloc(portion);
  return bytes.subarray(0, readSync(opened, bytes, 0, portion, at));
}

/** Takes the whole lines; returns what is left. */
function takeLines(bytes: Buffer, take: (line: AuditLine) => void): Buffer {
  const end = bytes.lastIndexOf(0x0a) + 1;
  for (const line of bytes.subarray(0, end).toString('utf8').split('\n')) {
    const read = line === '' ? undefined : asObject(line);
    if (read) take(read);
  }
  // Nobody writes lines of more than 4 KB; what is longer is not ours.
  return Buffer.from(bytes.subarray(end).subarray(0, 65_536));
}

function asObject(line: string): AuditLine | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as AuditLine)
      : undefined;
  } catch {
    // Cut off by a full disk.
    return undefined;
  }
}
