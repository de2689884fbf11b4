import * as z from 'zod';
import { kind, listing, type Reader } from '../../core/grammar.ts';

// What comes back, in one shape for all programs. A new kind is a decision of the house, not of a file.

const text = z.string().optional();
const whole = z.int().optional();
const place = { file: text, line: whole, column: whole };
type SourcePlace = { file?: string | undefined; line?: number | undefined; column?: number | undefined };
const at = ({ file, line, column }: SourcePlace) =>
  [file, line, column].filter((part) => part !== undefined).join(':');
const spaced = (...parts: (string | number | false | undefined)[]) =>
  parts.filter((part) => part !== undefined && part !== '' && part !== false).join(' ');

/** Messages of compilers, linters and type checkers. */
export const diagnostics = listing(
  'diagnostic',
  { level: z.enum(['error', 'warning', 'info']), message: z.string(), code: text, ...place },
  (one) => spaced(at(one), `${one.level}:`, one.message, one.code && `[${one.code}]`),
);
type DiagnosticLevel = 'error' | 'warning' | 'info';
/** The level that a program's own word, or number from 1, means. */
export const level = (said: string | number | null | undefined): DiagnosticLevel =>
  /^(2|err|fatal|fail)/i.test(String(said)) ? 'error' : /^(1|warn)/i.test(String(said)) ? 'warning' : 'info';

/** One test as its program names it. */
export interface TestCase extends SourcePlace {
  /** In the words that `only` takes. */
  name: string;
  status: 'passed' | 'failed' | 'skipped';
  message?: string | undefined;
}
const results = kind(
  'tests',
  z.object({
    passed: z.int(),
    failed: z.int(),
    skipped: z.int(),
    failures: z.array(z.object({ name: z.string(), message: z.string(), ...place })),
  }),
  ({ passed, failed, skipped, failures }) =>
    [
      `${failed} failed, ${passed} passed, ${skipped} skipped`,
      ...failures.map((one) => spaced(at(one), one.name, '-', one.message)),
    ].join('\n'),
);
/** No test at all is no answer: its text says why. */
export const tests = (read: Reader<TestCase[]>) =>
  results((output) => {
    const cases = read(output);
    if (cases.length === 0) throw new Error('no tests');
    const many = (status: TestCase['status']) => cases.filter((one) => one.status === status).length;
    const failures = cases
      .filter(({ status }) => status === 'failed')
      .map(({ name, message = '', file, line, column }) => ({
        name,
        message: message.trim().slice(0, 1000),
        file,
        line,
        column,
      }));
    return { passed: many('passed'), failed: many('failed'), skipped: many('skipped'), failures };
  });

/** Installed or outdated ones. */
export const packages = listing(
  'package',
  { name: z.string(), version: text, wanted: text, latest: text, group: text, problem: text },
  (one) =>
    spaced(
      one.name,
      one.version,
      one.latest && `-> ${spaced(one.wanted !== one.latest && one.wanted, one.latest)}`,
      one.group && `(${one.group})`,
      one.problem && `- ${one.problem}`,
    ),
);
export const advisories = listing(
  'advisory',
  { package: z.string(), severity: z.string(), title: z.string(), affected: text, url: text },
  (one) => spaced(one.severity, one.package, one.affected, one.title, one.url),
);
/** Scripts, targets, recipes. */
export const tasks = listing('task', { name: z.string(), command: text, says: text }, (one) =>
  spaced(one.name, one.command && `= ${one.command}`, one.says && `(${one.says})`),
);

/** A value of a database as text: what is not there is NULL, and a tab would be another column. */
const cell = (value: unknown): string =>
  value === null || value === undefined
    ? 'NULL'
    : (typeof value === 'object' ? JSON.stringify(value) : String(value)).replaceAll(
        /[\p{Cc}\p{Cf}]/gu,
        (sign) => (/\s/.test(sign) ? ' ' : `\\u${(sign.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}`),
      );
/** Rows of a query; `more` says that the limit cut them. */
export const rows = kind(
  'rows',
  z.object({ columns: z.array(z.string()), rows: z.array(z.array(z.unknown())), more: z.boolean() }),
  ({ columns: names, rows: all, more }) =>
    [
      `${all.length} ${all.length === 1 ? 'row' : 'rows'}${more ? '; there are more: raise limit' : ''}`,
      ...(all.length === 0 ? [] : [names.join('\t'), ...all.map((row) => row.map(cell).join('\t'))]),
    ].join('\n'),
);
/** Of more tables, the columns of each would be too much. */
const mostWithColumns = 30;
export const tables = listing(
  'table',
  { name: z.string(), type: text, schema: text, rows: z.number().nullish(), columns: z.string().nullish() },
  (one, _above, all) =>
    spaced(
      one.schema ? `${one.schema}.${one.name}` : one.name,
      typeof one.columns === 'string' && all.length <= mostWithColumns && `(${one.columns})`,
      one.type !== 'table' && one.type,
      one.rows !== null && one.rows !== undefined && `about ${one.rows} rows`,
    ),
);
const column = z.object({
  name: z.string(),
  type: z.string(),
  nullable: z.boolean().optional(),
  default: z.string().nullish(),
});
/**
 * One table or view: columns, and what else is known of it, a line each: indexes, constraints, its
 * definition.
 */
export const columns = kind(
  'columns',
  z.object({ columns: z.array(column), details: z.array(z.string()) }),
  ({ columns: all, details }) =>
    [
      `${all.length} columns`,
      ...all.map((one) =>
        spaced(
          one.name,
          one.type,
          one.nullable === false && 'not null',
          typeof one.default === 'string' && `= ${one.default}`,
        ),
      ),
      ...details,
    ].join('\n'),
);

export const containers = listing(
  'container',
  { id: text, name: z.string(), image: text, state: z.string(), ports: text },
  (one) => spaced(one.name, one.state, one.image, one.ports, one.id),
);
export const images = listing('image', { name: z.string(), tag: text, id: text, size: text }, (one) =>
  spaced(one.tag ? `${one.name}:${one.tag}` : one.name, one.id, one.size),
);
/** Of a cluster, or an infrastructure. */
export const resources = listing(
  'resource',
  { kind: text, name: z.string(), namespace: text, state: text, age: text },
  (one) => spaced(one.kind ? `${one.kind}/${one.name}` : one.name, one.namespace, one.state, one.age),
);
/** Issues, and pull and merge requests. */
export const requests = listing(
  'request',
  {
    number: z.int(),
    title: z.string(),
    state: z.string(),
    author: text,
    branch: text,
    body: text,
    url: text,
  },
  (one) =>
    spaced(
      `#${one.number}`,
      one.state.toLowerCase(),
      one.title,
      one.branch && `(${one.branch})`,
      one.author,
    ) + (one.body ? `\n${one.body}` : ''),
);
export const pipelineRuns = listing(
  'run',
  { id: z.int(), name: z.string(), state: z.string(), branch: text, url: text },
  (one) => spaced(one.id, one.state, one.name, one.branch),
);

export const ports = listing(
  'listening port',
  { protocol: z.string(), address: z.string(), port: z.int(), pid: whole, program: text },
  (one) => spaced(`${one.protocol} ${one.address}:${one.port}`, one.program, one.pid),
);
export const processes = listing(
  'process',
  { pid: z.int(), parent: whole, cpu: z.number().optional(), kilobytes: whole, command: z.string() },
  (one) =>
    spaced(
      one.pid,
      one.cpu !== undefined && `${one.cpu}%`,
      one.kilobytes !== undefined && `${one.kilobytes} KB`,
      one.command,
    ),
);
/** Things with a name and a word about each: versions, extensions, environments, symbols. */
export const entries = (of: string) => {
  const list = listing(of, { name: z.string(), says: text, current: z.boolean().optional() }, (one) =>
    spaced(one.current && '*', one.name, one.says),
  );
  return Object.assign((...read: Parameters<typeof list>) => ({ ...list(...read), kind: 'entries' }), list);
};

/** Commits, a line each; date and author where they are others than above. */
export const commits = listing(
  'commit',
  {
    hash: z.string(),
    date: z.string(),
    author: z.string(),
    subject: z.string(),
    refs: text,
    body: text,
    diff: text,
  },
  (one, above) => {
    const day = one.date.slice(0, 10);
    const isSameYear = above?.date.slice(0, 4) === day.slice(0, 4);
    const date = above?.date.slice(0, 10) !== day && (isSameYear ? day.slice(5) : day);
    const author = above?.author !== one.author && one.author;
    const head = spaced(one.hash.slice(0, 9), date, author, one.refs && `(${one.refs})`, one.subject);
    return [head, one.body?.replaceAll(/^/gm, '    '), one.diff].filter(Boolean).join('\n');
  },
);
