import * as z from 'zod';
import { parseExactly } from '../../core/exact-json.ts';
import { ToolcribError } from '../../core/errors.ts';
import { operand, type Param } from '../../core/parameter.ts';
import { limit, path } from '../../core/params.ts';
import { action, family, type Piece, type Program } from '../../core/program.ts';
import { glue, type Slot } from '../../core/command-line.ts';
import { type Output, type Reader } from '../../core/report.ts';
import { columns, rows, tables } from '../reports/kinds.ts';
import { quotedRows } from './quoted-rows.ts';
import { reads, writes } from '../shared/effects.ts';

type At<K extends string> = Readonly<Record<K, Slot>>;
interface Row extends Pick<
  Program,
  'title' | 'site' | 'get' | 'version' | 'elsewhere' | 'project' | 'hints'
> {
  /**
   * Options with which the engine itself changes nothing and opens no other file. Words of the shell are only read at
   * the start of an argument, which is always ours.
   */
  reading: readonly string[];
  /** Those with which it changes this one file, and stops at a failure. */
  writing: readonly string[];
  tables: string;
  describe(table: Slot): Piece;
  /** A query's text, as it is asked. */
  sql: Param;
  asked(at: At<'database' | 'sql' | 'limit'>): readonly Piece[];
  explain: string;
  execute(sql: Slot): readonly Piece[];
  importing(at: At<'file' | 'table'>): readonly Piece[];
  more: Program['actions'];
}

const words = z.string().min(1).max(100_000);
// The shells leave these table functions alone, and identifiers have no escapes, so the text tells.
const files = /fsdir|zipfile|sha\d\w*_query|shell_/i;
const statement = words
  .refine((text) => !/^\s*\./.test(text), 'dot commands are not SQL; there are actions for what they list')
  .refine((text) => !files.test(text), 'functions of the shell that read other files or run SQL are refused')
  .overwrite((text) => text.trim().replace(/[;\s]+$/, ''));
const query = statement.describe('One SELECT, VALUES or WITH; PRAGMA, SHOW or DESCRIBE that only reads');

const literal = (text: string) => `'${text.replaceAll("'", "''")}'`;
const tableName = (says: string) =>
  operand(
    z
      .string()
      .regex(/^[^\0"]{1,200}$/, 'expected the name of a table')
      .describe(says),
    literal,
  );
const inShell = (text: string) => JSON.stringify(text);

/** A JSON array of rows; no rows print nothing at all. */
const json = <S extends z.ZodType>(row: S, { stdout }: Output) =>
  z.array(row).parse(stdout.trim() === '' ? [] : parseExactly(stdout));
const table = z.object({
  name: z.string(),
  type: z.string(),
  schema: z.string().optional(),
  rows: z.number().nullish(),
});
const column = z.object({
  kind: z.enum(['column', 'detail']),
  name: z.string(),
  type: z.string().nullable(),
  nullable: z.union([z.boolean(), z.int()]).nullable(),
  default: z.string().nullable(),
});
const described: Reader<z.input<(typeof columns)['result']>> = (output) => {
  const all = json(column, output);
  const found = all.filter(({ kind }) => kind === 'column');
  if (found.length === 0)
    throw new ToolcribError('NOT_FOUND', `${output.values['table']}: there is no such table.`);
  return {
    columns: found.map((one) => ({ ...one, type: one.type ?? '', nullable: Boolean(one.nullable) })),
    details: all.filter(({ kind }) => kind === 'detail').map(({ name }) => name),
  };
};

const readingSqlite = ['-readonly', '-safe'];
const sqlite3: Row = {
  title: 'SQLite',
  site: 'https://sqlite.org/cli.html',
  get: { apt: 'sqlite3', brew: 'sqlite', winget: 'SQLite.SQLite' },
  version: { args: ['-version'], pattern: /(\d+\.[\w.]*)/ },
  elsewhere: {
    darwin: ['/opt/homebrew/opt/sqlite/bin/sqlite3', '/usr/local/opt/sqlite/bin/sqlite3'],
    win32: ['%ProgramFiles%/SQLite/sqlite3.exe'],
  },
  project: ['*.db', '*.sqlite', '*.sqlite3', '*.db3'],
  hints: [
    { says: /unable to open database/, wayOut: 'Is the path a database file? Links are not followed.' },
    { says: /attempt to write a readonly/, wayOut: 'It changes data: sqlite3_execute does that.' },
    {
      says: /near "(?:explain|query|plan)"/i,
      wayOut: 'sqlite3_explain shows how a query would be answered.',
    },
    { says: /transaction within a trans/, wayOut: 'It runs in one transaction: leave BEGIN and COMMIT out.' },
  ],
  reading: readingSqlite,
  writing: ['-safe', '-bail'],
  tables:
    "SELECT name, type FROM pragma_table_list WHERE schema = 'main' AND name NOT GLOB 'sqlite_*' ORDER BY name",
  describe: (name) =>
    glue(
      `SELECT 'column' AS kind, name, type, "notnull" = 0 AND pk = 0 AS nullable, dflt_value AS "default" ` +
        'FROM pragma_table_xinfo(',
      name,
      ") UNION ALL SELECT 'detail', sql, NULL, NULL, NULL FROM sqlite_schema WHERE sql IS NOT NULL AND tbl_name = ",
      name,
      ' COLLATE NOCASE',
    ),
  // As a subquery it has to be one; the newline ends a comment at its end. A PRAGMA cannot be one, and prints little.
  sql: operand(query, (text) => (/^pragma\b/i.test(text) ? text : `SELECT * FROM (${text}\n) LIMIT @most`)),
  // No value is larger than 100 MB, however small the query that makes it.
  asked: ({ database, sql, limit: most }) => [
    '-quote',
    '-header',
    '-cmd',
    '.limit length 100000000',
    '-cmd',
    glue('.parameter set @most 1+', most),
    database,
    sql,
  ],
  explain: 'EXPLAIN QUERY PLAN ',
  execute: (sql) => ['BEGIN', sql, 'COMMIT', "SELECT total_changes() AS 'rows changed'"],
  importing: ({ file, table: name }) => [glue('.import --csv ', file, ' ', name)],
  more: {
    schema: action('Show SQLite schema', 'CREATE statements of tables, indexes, views, triggers.', reads, {
      run: ({ database, table: name }) => [
        ...readingSqlite,
        database,
        glue("SELECT sql || ';' FROM sqlite_schema WHERE sql IS NOT NULL AND tbl_name GLOB ", name),
      ],
      params: {
        database: operand(path('Database file', 'file')),
        table: operand(
          z.string().max(200).default('*').describe('Only of this table; * and ? match any'),
          literal,
        ),
      },
      given: { database: 'shop.db', table: 'users' },
    }),
    dump: action('Dump SQLite as SQL', 'All statements that make the database again, or one table.', reads, {
      run: ({ database, table: name }) => [...readingSqlite, database, glue('.dump ', name)],
      params: {
        database: operand(path('Database file', 'file')),
        table: operand(
          z
            .string()
            .regex(/^[\w%]{1,200}$/)
            .default('%')
            .describe('Only this table; % matches any text'),
        ),
      },
      given: { database: 'shop.db' },
    }),
  },
};

const duckdb: Row = {
  title: 'DuckDB',
  site: 'https://duckdb.org/docs/stable/clients/cli/overview',
  get: { brew: 'duckdb', winget: 'DuckDB.cli', site: 'https://duckdb.org/docs/installation' },
  version: { args: ['-version'], pattern: /v?(\d+\.[\w.]*)/ },
  project: ['*.duckdb', '*.ddb'],
  hints: [{ says: /read-only mode/, wayOut: 'It changes data: duckdb_execute does that.' }],
  reading: ['-readonly', '-safe'],
  writing: ['-safe', '-bail'],
  tables:
    `SELECT schema_name AS "schema", table_name AS name, 'table' AS type, estimated_size AS rows ` +
    'FROM duckdb_tables() ' +
    `UNION ALL SELECT schema_name, view_name, 'view', NULL FROM duckdb_views() WHERE NOT internal ORDER BY 1, 2`,
  describe: (name) =>
    glue(
      `SELECT 'column' AS kind, column_name AS name, data_type AS type, is_nullable AS nullable, ` +
        'column_default AS "default" FROM duckdb_columns() WHERE table_name = ',
      name,
      " UNION ALL SELECT 'detail', sql, NULL, NULL, NULL FROM (SELECT table_name, sql FROM duckdb_tables() UNION ALL " +
        'SELECT table_name, sql FROM duckdb_indexes() UNION ALL SELECT view_name, sql FROM duckdb_views()) ' +
        'WHERE sql IS NOT NULL AND table_name = ',
      name,
    ),
  sql: operand(query),
  asked: ({ database, sql, limit: most }) => [
    '-quote',
    '-header',
    database,
    glue('FROM (', sql, '\n) LIMIT 1 + ', most),
  ],
  explain: 'EXPLAIN ',
  execute: (sql) => [glue('BEGIN; ', sql, ';\nCOMMIT;')],
  importing: ({ file, table: name }) => [glue('CREATE TABLE ', name, ' AS FROM ', file)],
  more: {},
};

const database = operand(path('Database file', 'file'));
const changed = { database: operand(path('Database file', 'file', { written: true })) };

const looking = (row: Row): Program['actions'] => {
  const { title, reading } = row;
  const asked =
    (text: Piece) =>
    ({ database: file }: At<'database'>) => [...reading, '-json', file, text];
  return {
    tables: action(`List ${title} tables`, 'Tables and views of a database file.', reads, {
      role: 'tables',
      run: asked(row.tables),
      params: { database },
      given: { database: 'shop.db' },
      out: tables((output) => json(table, output)),
    }),
    describe: action(`Describe a ${title} table`, 'Columns of a table or view, and its definition.', reads, {
      role: 'describe',
      run: ({ database: file, table: name }) => [...reading, '-json', file, row.describe(name)],
      params: { database, table: tableName('Table or view') },
      given: { database: 'shop.db', table: 'users' },
      out: columns(described),
    }),
    query: action(`Query ${title}`, 'Runs one read-only query on a database file; its rows.', reads, {
      role: 'query',
      run: (at) => [...reading, ...row.asked(at)],
      params: { database, sql: row.sql as Param<z.ZodString>, limit: operand(limit(1000, 100)) },
      given: { database: 'shop.db', sql: 'SELECT name FROM users' },
      out: rows(quotedRows),
    }),
    explain: action(`Explain a ${title} query`, 'The plan of a query, which is not run.', reads, {
      run: ({ database: file, sql }) => [...reading, file, glue(row.explain, sql)],
      params: { database, sql: operand(query) },
      given: { database: 'shop.db', sql: 'SELECT name FROM users' },
    }),
  };
};

const changing = (row: Row): Program['actions'] => {
  const { title, writing } = row;
  return {
    open: action(`Open a ${title} database`, 'Makes the file when there is none; lists its tables.', writes, {
      run: ({ database: file }) => [...writing, '-json', file, row.tables],
      params: changed,
      given: { database: 'new.db' },
      out: tables((output) => json(table, output)),
    }),
    execute: action(
      `Change a ${title} database`,
      'Runs SQL that writes: all, or on failure none.',
      ['write', 'destroy'],
      {
        run: ({ database: file, sql }) => [...writing, '-header', file, ...row.execute(sql)],
        params: {
          ...changed,
          sql: operand(statement.describe('One or more statements, with ; between them')),
        },
        given: { database: 'shop.db', sql: "UPDATE users SET name = 'Ada' WHERE id = 1" },
      },
    ),
    import: action(`Import a CSV file into ${title}`, 'Makes a table of a CSV file.', writes, {
      run: (at) => [...writing.filter((word) => word !== '-safe'), at.database, ...row.importing(at)],
      params: {
        ...changed,
        file: operand(path('CSV file with a header', 'file'), title === 'SQLite' ? inShell : literal),
        table: operand(
          z
            .string()
            .regex(/^[A-Za-z_]\w{0,62}$/, 'expected a plain name')
            .describe('New table'),
          inShell,
        ),
      },
      given: { database: 'shop.db', file: 'users.csv', table: 'users' },
    }),
    ...row.more,
  };
};

export default family({ sqlite3, duckdb }, (row) => {
  const { title, site, get, version, elsewhere, project, hints } = row;
  return {
    title,
    site,
    get,
    category: 'database' as const,
    // No file of the user's, which would be run; and no link, which could lead out of the roots.
    before: ['-init', '/dev/null', '-nofollow', '-batch'],
    ...(version && { version }),
    ...(elsewhere && { elsewhere }),
    ...(project && { project }),
    ...(hints && { hints }),
    actions: { ...looking(row), ...changing(row) },
  };
});
