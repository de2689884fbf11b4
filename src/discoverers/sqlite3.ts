import * as z from 'zod';
import { defineDiscoverer } from '../core/discoverer.ts';
import { limit, path } from '../core/params.ts';
import { table } from './database-params.ts';
import { parseExactly } from '../core/exact-json.ts';
import { quotedRows } from './sqlite3-rows.ts';

// The engine keeps these promises, not the text of a query: -readonly refuses every write, -safe refuses ATTACH, VACUUM
// INTO, readfile(), writefile(), edit() and load_extension(), -nofollow refuses a link, which could lead out of the
// roots. Dot commands are only read at the start of an argument, which is always ours. -init keeps ~/.sqliterc from
// being read: it runs before -safe takes effect.
const prefix = ['-init', '/dev/null', '-readonly', '-nofollow', '-safe', '-batch'];
const started = `sqlite3 ${prefix.join(' ')}`;

/** A query can go on for ever, and takes a processor as long as it does. */
const timeoutMs = 30_000;

const database = path('Database file', 'file');

// -safe leaves these of the shell alone, and has no authorizer; identifiers have no escapes, so the text tells.
const filesystemTables = /fsdir|zipfile|sha\d\w*_query|shell_/i;

const sql = z
  .string()
  .min(1)
  .max(100_000)
  .refine((text) => !/^\s*\./.test(text), 'dot commands are not SQL; use the tables and schema actions')
  .refine(
    (text) => !filesystemTables.test(text),
    'functions of the sqlite3 shell that read other files or run SQL are refused',
  )
  .overwrite((text) => text.trim().replace(/[;\s]+$/, ''))
  .refine(isOneQuery, 'one query is expected, without a second statement')
  .describe('One SELECT, VALUES or WITH');

export const sqlite3 = defineDiscoverer({
  id: 'sqlite3',
  title: 'SQLite',
  category: 'database',
  homepage: 'https://sqlite.org/cli.html',
  programs: ['sqlite3'],
  version: { args: ['-version'], pattern: /^(\d[\w.]*)/ },
  elsewhere: {
    darwin: ['/opt/homebrew/opt/sqlite/bin/sqlite3', '/usr/local/opt/sqlite/bin/sqlite3'],
    win32: ['%ProgramFiles%/SQLite/sqlite3.exe'],
  },
  install: {
    linux: 'Install the package sqlite3 (3.37 or newer), for instance: sudo apt install sqlite3',
    darwin: 'It comes with macOS; newer: brew install sqlite',
    win32: 'winget install SQLite.SQLite',
  },
  signals: { extensions: ['.db', '.sqlite', '.sqlite3', '.db3'] },
  prefix,
  hints: [
    {
      says: /syntax error|incomplete input/,
      wayOut: 'One SELECT is run, as a subquery: no second statement, no PRAGMA, nothing that changes data.',
    },
    { says: /unable to open database/, wayOut: 'Is the path a database file? Links are not followed.' },
  ],

  actions: {
    tables: {
      title: 'List SQLite tables',
      description: 'Tables and views of a database file.',
      effects: ['read'],
      timeoutMs,
      params: { database },
      argv: [
        '-json',
        { param: 'database' },
        'SELECT name, type, ncol AS columns FROM pragma_table_list ' +
          "WHERE schema = 'main' AND name NOT GLOB 'sqlite_*' ORDER BY name",
      ],
      example: {
        given: { database: 'shop.db' },
        runs:
          `${started} -json shop.db 'SELECT name, type, ncol AS columns FROM pragma_table_list ` +
          `WHERE schema = '\\''main'\\'' AND name NOT GLOB '\\''sqlite_*'\\'' ORDER BY name'`,
      },
      result: z.object({
        tables: z.array(z.object({ name: z.string(), type: z.string(), columns: z.number() })),
      }),
      parse: (stdout) => ({ tables: rowsOf(stdout) }),
    },
    schema: {
      title: 'Show SQLite schema',
      description: 'The CREATE statements of tables, indexes, views and triggers.',
      effects: ['read'],
      timeoutMs,
      params: {
        database,
        table: z
          .string()
          .regex(/^[^'[\]\0]{1,200}$/, 'expected a table name without quotes and brackets')
          .default('*')
          .describe('Only of this table; * and ? match any'),
      },
      argv: [
        '-json',
        { param: 'database' },
        {
          join: [
            "SELECT type, name, tbl_name AS 'table', sql FROM sqlite_schema " +
              "WHERE sql IS NOT NULL AND tbl_name GLOB '",
            { param: 'table' },
            "' ORDER BY tbl_name, type DESC, name",
          ],
        },
      ],
      example: {
        given: { database: 'shop.db', table: 'users' },
        runs:
          `${started} -json shop.db 'SELECT type, name, tbl_name AS '\\''table'\\'', sql FROM sqlite_schema ` +
          `WHERE sql IS NOT NULL AND tbl_name GLOB '\\''users'\\'' ORDER BY tbl_name, type DESC, name'`,
      },
      result: z.object({
        objects: z.array(
          z.object({ type: z.string(), name: z.string(), table: z.string(), sql: z.string() }),
        ),
      }),
      parse: (stdout) => ({ objects: rowsOf(stdout) }),
    },
    query: {
      title: 'Query SQLite',
      description: 'Runs one read-only query and returns its rows.',
      effects: ['read'],
      timeoutMs,
      params: { database, sql, limit: limit(1000, 100) },
      // As a subquery it has to be one query; the newline ends a comment at its end. One more row tells of more. No
      // value is larger than 100 MB, however small the query that makes it.
      argv: [
        '-quote',
        '-header',
        '-cmd',
        '.limit length 100000000',
        { param: 'database' },
        {
          join: [
            'SELECT ',
            { param: 'limit' },
            ' AS most; SELECT * FROM (',
            { param: 'sql' },
            '\n) LIMIT ',
            { param: 'limit' },
            ' + 1',
          ],
        },
      ],
      example: {
        given: { database: 'shop.db', sql: 'SELECT name FROM users' },
        runs:
          `${started} -quote -header -cmd '.limit length 100000000' shop.db ` +
          `'SELECT 100 AS most; SELECT * FROM (SELECT name FROM users\n) LIMIT 100 + 1'`,
      },
      result: table,
      parse: queriedRows,
    },
    explain: {
      title: 'Explain a SQLite query',
      description: 'The plan of a query, which is not run.',
      effects: ['read'],
      timeoutMs,
      params: { database, sql },
      argv: [
        { param: 'database' },
        { join: ['EXPLAIN QUERY PLAN SELECT * FROM (', { param: 'sql' }, '\n)'] },
      ],
      example: {
        given: { database: 'shop.db', sql: 'SELECT name FROM users' },
        runs: `${started} shop.db 'EXPLAIN QUERY PLAN SELECT * FROM (SELECT name FROM users\n)'`,
      },
      result: z.object({ plan: z.array(z.string()) }),
      parse: plannedSteps,
    },
  },
});

type Row = Record<string, unknown>;

/** No rows print nothing at all. */
function rowsOf(json: string): Row[] {
  if (json.trim() === '') return [];
  const rows = parseExactly(json);
  if (!Array.isArray(rows)) throw new Error('expected a JSON array of rows');
  return rows as Row[];
}

/** Before the row limit there is what a setting says that it was set to. */
function queriedRows(stdout: string) {
  const [, most, rows = ''] = /(?:^|\n)'most'\r?\n(\d+)\r?\n([^]*)$/.exec(stdout) ?? [];
  if (most === undefined) throw new Error('expected the row limit first');
  return quotedRows(rows, Number(most));
}

function plannedSteps(stdout: string) {
  const [title, ...plan] = stdout.trimEnd().split(/\r?\n/);
  if (title !== 'QUERY PLAN') throw new Error('expected a query plan');
  return { plan };
}

/** String literals, quoted identifiers and comments of SQL, as SQLite reads them: what is in them is no syntax. */
const opaque = /'(?:[^']|'')*'|"(?:[^"]|"")*"|`(?:[^`]|``)*`|\[[^\]]*\]|--[^\n]*|\/\*[^]*?(?:\*\/|$)/g;

/** Whether a text stays one query when it is put in parentheses: no second statement, no parenthesis too many. */
export function isOneQuery(text: string): boolean {
  // SQLite reads `$a(')` as the name of a parameter, quote and all; there is nothing here to give one a value.
  if (/[$@:#?][\w$:]*\(/.test(text)) return false;
  const syntax = text.replaceAll(opaque, ' ');
  if (/[;'"`]/.test(syntax)) return false;
  let depth = 0;
  for (const character of syntax) {
    if (character === '(') depth++;
    if (character === ')' && --depth < 0) return false;
  }
  return depth === 0;
}
