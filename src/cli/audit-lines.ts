import type { AuditLine } from '../machine/audit/read-audit.ts';
import { presentable } from '../machine/presentable.ts';
import type { Style } from './table.ts';

/** Characters of a call's arguments that are shown. */
const mostArguments = 100;

/** One call, for a person: when, what, with what, what was decided, how it ended, how long it took. */
export function readableLine(line: AuditLine, style: Style): string {
  if (typeof line['lost'] === 'number')
    return `${timeOf(line)}  ${style('yellow', `${line['lost']} calls were not recorded`)}\n`;
  const decision = text(line['decision']);
  const outcome = text(line['outcome']);
  const facts = [
    style('dim', timeOf(line)),
    style('bold', text(line['tool']).padEnd(20)),
    argumentsOf(line['arguments']),
    decision === 'allow' ? '' : style(isRefused(line) ? 'red' : 'yellow', `${decision}${settingOf(line)}`),
    style(outcome === 'ok' ? 'green' : 'red', outcome + exitCodeOf(line)),
    style('dim', typeof line['ms'] === 'number' ? `${Math.round(line['ms']).toLocaleString('en')} ms` : ''),
    style(
      'dim',
      ['job', 'output'].flatMap((name) => (line[name] ? `${name} ${text(line[name])}` : [])).join(' '),
    ),
  ];
  return `${facts.filter((fact) => fact !== '').join('  ')}\n`;
}

/** Whether the call was not made, because of a setting or a person. */
export const isRefused = ({ decision }: AuditLine): boolean =>
  decision === 'denied' || decision === 'asked:no';

/** What anybody may have put into the file, in one line and without what commands a terminal. */
const text = (value: unknown): string =>
  presentable(typeof value === 'string' ? value : value === undefined ? '' : JSON.stringify(value))
    .replaceAll(/\s+/g, ' ')
    .slice(0, 300);

/** In the time zone of the reader: 2026-01-31 23:59:59. */
function timeOf({ time }: AuditLine): string {
  const date = new Date(typeof time === 'string' ? time : Number.NaN);
  if (Number.isNaN(date.getTime())) return '?'.padEnd(19);
  const two = (number: number) => String(number).padStart(2, '0');
  const day = [date.getFullYear(), two(date.getMonth() + 1), two(date.getDate())].join('-');
  return `${day} ${[date.getHours(), date.getMinutes(), date.getSeconds()].map(two).join(':')}`;
}

function argumentsOf(value: unknown): string {
  if (typeof value !== 'object' || value === null) return text(value);
  const pairs = Object.entries(value).map(([name, item]) => `${text(name)}=${text(item)}`);
  const all = pairs.join(' ');
  return all.length > mostArguments ? `${all.slice(0, mostArguments).replace(/[\ud800-\udbff]$/, '')}…` : all;
}

const settingOf = ({ setting }: AuditLine): string => (setting === undefined ? '' : ` (${text(setting)})`);
const exitCodeOf = ({ exitCode }: AuditLine): string => (typeof exitCode === 'number' ? ` ${exitCode}` : '');
