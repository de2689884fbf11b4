import { once } from 'node:events';
import { homedir } from 'node:os';
import type { Platform } from '../core/discoverer.ts';
import { fits } from '../core/rule.ts';
import { auditFolder, createAuditReader, jsonLine, type AuditLine } from '../machine/audit/audit.ts';
import { stateFolder } from '../store/own-files.ts';
import { sanitize } from '../machine/sanitize.ts';
import { print, style } from './print.ts';
import { parseCommandLine, UsageError } from './usage.ts';

const options = {
  follow: { type: 'boolean', short: 'f' },
  json: { type: 'boolean' },
  lines: { type: 'string', short: 'n' },
  tool: { type: 'string' },
  denied: { type: 'boolean' },
} as const;

const usualLines = '20';
const lookEveryMs = 500;

/**
 * Runs `toolcrib audit [--follow] [--json] [-n N] [--tool GLOB] [--denied]`: prints the last recorded calls,
 * and with --follow those that come, until Ctrl-C.
 */
export async function auditCommand(args: string[]): Promise<number> {
  const { values } = parseCommandLine({ args, options });
  const { lines: count = usualLines, tool: pattern, denied: onlyRefused = false } = values;
  if (!/^\d{1,9}$/.test(count)) throw new UsageError(`-n ${count}: expected a number of lines.`);
  const state = stateFolder(process.platform as Platform, process.env, homedir());
  if (state === undefined) throw new UsageError('there is no state folder here, so calls are not recorded.');
  const matches = (line: AuditLine) =>
    (!pattern || fits(pattern, { tools: [text(line['tool'])], subject: '' })) &&
    (!onlyRefused || isRefused(line));
  const read = createAuditReader(auditFolder(state));
  const show = (most: number) => {
    const matching = read(matches, most);
    print(matching.map((line) => (values.json ? jsonLine(line) : readableLine(line))).join(''));
    return matching.length;
  };
  const shown = show(Number(count));
  if (shown === 0 && count !== '0' && !values.follow)
    process.stderr.write(`toolcrib: no such calls have been recorded in ${auditFolder(state)}.\n`);
  if (values.follow) {
    const timer = setInterval(() => show(Infinity), lookEveryMs);
    await Promise.race([once(process, 'SIGINT'), once(process, 'SIGTERM')]);
    clearInterval(timer);
  }
  return 0;
}

/**
 * Formats a call for a person: when, which tool with which arguments, the decision, the outcome, the time it
 * took.
 */
function readableLine(line: AuditLine): string {
  const outcome = text(line['outcome']);
  const setting = text(line['setting']);
  const decided = text(line['decision']) + (setting === '' ? '' : ` (${setting})`);
  const handles = ['job', 'output'].flatMap((name) => (line[name] ? `${name} ${text(line[name])}` : []));
  const args = Object.entries(line['arguments'] ?? {}).map((pair) =>
    pair.map((part) => text(part)).join('='),
  );
  const facts = [
    style('dim', timeOf(line)),
    style('bold', text(line['tool']).padEnd(20)),
    text(args.join(' '), 100),
    decided !== 'allow' && style(isRefused(line) ? 'red' : 'yellow', decided),
    style(outcome === 'ok' ? 'green' : 'red', outcome),
    style('dim', typeof line['ms'] === 'number' ? `${Math.round(line['ms']).toLocaleString('en')} ms` : ''),
    style('dim', handles.join(' ')),
  ];
  return `${facts.filter(Boolean).join('  ')}\n`;
}

/** True where the call was not made, because of a setting or a person. */
const isRefused = ({ decision }: AuditLine): boolean =>
  ['denied', 'asked:no', 'unanswered'].includes(String(decision));

/** Formats a value as one line without terminal controls, as anybody may have written into the file. */
const text = (value: unknown, most = 300): string =>
  sanitize(typeof value === 'string' ? value : (JSON.stringify(value) ?? ''))
    .replaceAll(/\s+/g, ' ')
    .slice(0, most);

/** Formats the time in the reader's time zone: 2026-01-31 23:59:59. */
function timeOf({ time }: AuditLine): string {
  const date = new Date(typeof time === 'string' ? time : Number.NaN);
  // The Swedish locale writes times in the order of ISO 8601.
  return Number.isNaN(date.getTime()) ? '?'.padEnd(19) : date.toLocaleString('sv');
}
