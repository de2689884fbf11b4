import { lstatSync, readdirSync, readFileSync } from 'node:fs';
import { isPrivate } from '../../own-files/own-files.ts';
import { spelledOut } from '../presentable.ts';

/** A line of the audit, as it was written; a reader must expect anything of it. */
export type AuditLine = Readonly<Record<string, unknown>>;

/** A value as one line of JSON, which can be printed as it is. */
export const jsonLine = (value: object): string => `${spelledOut(JSON.stringify(value))}\n`;

/** Reads the files in a folder, which need not be there yet: each time, the last of the lines that are new. */
export function createAuditReader(folder: string) {
  const readUpTo = new Map<string, number>();
  const newLines = (name: string): string[] => {
    if (!lstatSync(`${folder}/${name}`, { throwIfNoEntry: false })?.isFile()) return [];
    const text = readFileSync(`${folder}/${name}`, 'latin1');
    const end = text.lastIndexOf('\n') + 1;
    const from = readUpTo.get(name);
    readUpTo.set(name, end);
    return text.slice(from, end).split('\n');
  };
  return (wanted: (line: AuditLine) => boolean, most: number): AuditLine[] => {
    const names = isPrivate(folder) ? readdirSync(folder) : [];
    const lines = names.flatMap((name) => newLines(name).flatMap(parsed).filter(wanted));
    return most === 0 ? [] : lines.sort(byTime).slice(-most);
  };
}

const byTime = (a: AuditLine, b: AuditLine) => String(a['time']).localeCompare(String(b['time']));

function parsed(line: string): AuditLine[] {
  try {
    const value: unknown = JSON.parse(Buffer.from(line, 'latin1').toString('utf8'));
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? [value as AuditLine] : [];
  } catch {
    // Cut off by a full disk, or the empty end of the last line.
    return [];
  }
}
