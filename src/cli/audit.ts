import { watch, type FSWatcher } from 'node:fs';
import { homedir } from 'node:os';
import type { Platform } from '../core/discoverer.ts';
import { fits } from '../core/rule.ts';
import { auditFolder } from '../machine/audit/audit.ts';
import { harmless } from '../machine/audit/audit-line.ts';
import { createAuditReader, type AuditLine } from '../machine/audit/read-audit.ts';
import { stateFolder } from '../machine/folders.ts';
import { isRefused, readableLine } from './audit-lines.ts';
import { styler } from './table.ts';
import { parseCommandLine, UsageError } from './usage.ts';

const options = {
  follow: { type: 'boolean', short: 'f' },
  json: { type: 'boolean' },
  lines: { type: 'string', short: 'n' },
  tool: { type: 'string' },
  denied: { type: 'boolean' },
} as const;

const usualLines = 20;
/** Milliseconds between two looks. A watch says more quickly that there is something, but not on every file system. */
const lookEvery = 500;

/**
 * `toolcrib audit [--follow] [--json] [-n N] [--tool GLOB] [--denied]`: the last calls that were recorded, and with
 * --follow those that come, until Ctrl-C.
 */
export async function auditCommand(args: string[]): Promise<number> {
  const { values } = parseCommandLine({ args, options });
  const most = countOf(values.lines);
  const state = stateFolder(process.platform as Platform, process.env, homedir());
  if (state === undefined) {
    process.stderr.write('toolcrib: there is no state folder here, so calls are not recorded.\n');
    return 1;
  }
  const style = styler(process.stdout.isTTY === true && !process.env['NO_COLOR']);
  const wanted = (line: AuditLine) => isWanted(line, values.tool, values.denied === true);
  const show = (lines: readonly AuditLine[]) => {
    const shown = lines.map((line) => (values.json ? harmless(line) : readableLine(line, style))).join('');
    if (shown !== '') process.stdout.write(shown);
  };
  const folder = auditFolder(state);
  const reader = createAuditReader(folder);
  const found = reader.more(wanted, most);
  show(found);
  if (values.follow) await follow(folder, () => show(reader.more(wanted)));
  else if (found.length === 0 && most > 0)
    process.stderr.write(`toolcrib: no such calls have been recorded in ${folder}.\n`);
  return 0;
}

function countOf(given: string | undefined): number {
  if (given === undefined) return usualLines;
  if (!/^\d{1,9}$/.test(given)) throw new UsageError(`-n ${given}: expected a number of lines.`);
  return Number(given);
}

/** A line that says how many were lost is not about one call. */
function isWanted(line: AuditLine, pattern: string | undefined, onlyRefused: boolean): boolean {
  const tool = typeof line['tool'] === 'string' ? line['tool'] : '';
  return (pattern === undefined || fits(pattern, { tools: [tool], subject: '' })) && (!onlyRefused || isRefused(line));
}

/** Looks whenever something may have been added, until the person ends it. */
function follow(folder: string, lookOnce: () => void): Promise<void> {
  return new Promise((resolve) => {
    let watcher: FSWatcher | undefined;
    const look = () => {
      watcher ??= watched(folder, look, () => (watcher = undefined));
      lookOnce();
    };
    const timer = setInterval(look, lookEvery);
    const end = () => {
      clearInterval(timer);
      watcher?.close();
      process.off('SIGINT', end);
      process.off('SIGTERM', end);
      resolve();
    };
    process.on('SIGINT', end);
    process.on('SIGTERM', end);
    look();
  });
}

/** Undefined while there is nothing to watch; then the timer has to do. */
function watched(folder: string, changed: () => void, ended: () => void): FSWatcher | undefined {
  try {
    const watcher = watch(folder, changed);
    watcher.on('error', () => {
      watcher.close();
      ended();
    });
    return watcher;
  } catch {
    // The folder is made with the first call; a system may have no watches left.
    return undefined;
  }
}
