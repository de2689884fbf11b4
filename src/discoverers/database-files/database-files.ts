import * as z from 'zod';
import {
  action,
  family,
  glue,
  limit,
  matching,
  operand,
  type Output,
  type Param,
  parseExactly,
  path,
  type Piece,
  type Program,
  type Reader,
  type Slot,
  ToolcribError,
} from '../../core/grammar.ts';
import { columns, rows, tables } from '../reports/kinds.ts';
import { quotedRows } from './quoted-rows.ts';
import { loses, reads, writes } from '../shared/programs.ts';

type SlotsAt<K extends string> = Readonly<Record<K, Slot>>;
interface DatabaseFileRow {
  facts: Omit<Program, 'id' | 'category' | 'actions'>;
  /** Options with which it changes this one file, and stops at a failure. */
  writing: readonly string[];
  tables: string;
  describe(table: Slot): Piece;
  /** A query's text, as it is asked. */
  sql: Param;
  asked(at: SlotsAt<'database' | 'sql' | 'limit'>): readonly Piece[];
  execute(sql: Slot): readonly Piece[];
  more: Program['actions'];
}
/**
 * Options with which the engine itself changes nothing and opens no other file. Words of the shell are only
 * read at the start of an argument, which is always ours.
 */
const reading = ['-readonly', '-safe'];

const words = z.string().min(1).max(100_000);
// The shells leave these table functions alone, and identifiers have no escapes, so the text tells.
const files = /fsdir|zipfile|sha\d\w*_query|shell_/i;
const statement = words
  .refine((text) => !/^\s*\./.test(text), 'dot commands are not SQL; there are actions for what they list')
  .refine((text) => !files.test(text), 'functions of the shell that read other files or run SQL are refused')
  .overwrite((text) => text.trim().replace(/[;\s]+$/, ''));
const query = statement.describe('One SELECT, VALUES or WITH; PRAGMA, EXPLAIN, SHOW or DESCRIBE');

/** The same without the comments it begins with. */
const withoutComments = (text: string) => text.replace(/^(?:\s+|--.*(?:\n|$)|\/\*[^]*?\*\/)+/, '');
const literal = (text: string) => `'${text.replaceAll("'", "''")}'`;
const tableName = operand(matching(/^[^\0"]{1,200}$/, 'the name of a table', 'Table or view'), literal);

/** A JSON array of rows; no rows print nothing at all. */
const json = <S extends z.ZodType>(row: S, { stdout }: Output) =>
  z.array(row).parse(stdout.trim() === '' ? [] : parseExactly(stdout));
const table = z.object({
  name: z.string(),
  type: z.string(),
  schema: z.string().optional(),
  rows: z.number().nullish(),
  columns: z.string().nullish(),
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

const sqlite3: DatabaseFileRow = {
  facts: {
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
        says: /transaction within a trans/,
        wayOut: 'It runs in one transaction: leave BEGIN and COMMIT out.',
      },
    ],
  },
  writing: ['-safe', '-bail'],
  tables:
    "SELECT name, type, (SELECT group_concat(name, ', ') FROM pragma_table_xinfo(list.name)) AS columns " +
    "FROM pragma_table_list AS list WHERE schema = 'main' AND name NOT GLOB 'sqlite_*' ORDER BY name",
  describe: (name) =>
    glue(
      `SELECT 'column' AS kind, name, type, "notnull" = 0 AND pk = 0 AS nullable, dflt_value AS "default" ` +
        'FROM pragma_table_xinfo(',
      name,
      ") UNION ALL SELECT 'detail', sql, NULL, NULL, NULL FROM sqlite_schema WHERE sql IS NOT " +
        'NULL AND tbl_name = ',
      name,
      ' COLLATE NOCASE',
    ),
  // As a subquery it has to be one; the newline ends a comment at its end. PRAGMA and EXPLAIN cannot be one,
  // and are about the caller's own statement.
  sql: operand(query, (text) => {
    const own = withoutComments(text);
    return /^(?:pragma|explain)\b/i.test(own) ? own : `SELECT * FROM (${text}\n) LIMIT @most`;
  }),
  // No value is larger than 100 MB, however small the query that makes it.
  asked: ({ database, sql, limit: most }) => [
    '-quote',
    '-header',
    // A plan as rows, in place of a drawing.
    '-cmd',
    '.explain off',
    '-cmd',
    '.limit length 100000000',
    '-cmd',
    glue('.parameter set @most 1+', most),
    database,
    sql,
  ],
  execute: (sql) => ['BEGIN', sql, 'COMMIT', "SELECT total_changes() AS 'rows changed'"],
  more: {
    dump: action('Dump SQLite as SQL', 'All statements that make the database again, or one table.', reads, {
      run: ({ database, table: name }) => [...reading, database, glue('.dump ', name)],
      params: {
        database: operand(path('Database file', 'file')),
        table: operand(matching(/^[\w%]{1,200}$/, 'a name', 'Only this table; % is any text').default('%')),
      },
      given: { database: 'shop.db' },
    }),
  },
};

const duckdb: DatabaseFileRow = {
  facts: {
    title: 'DuckDB',
    site: 'https://duckdb.org/docs/stable/clients/cli/overview',
    get: { brew: 'duckdb', winget: 'DuckDB.cli', site: 'https://duckdb.org/docs/installation' },
    version: { args: ['-version'], pattern: /v?(\d+\.[\w.]*)/ },
    project: ['*.duckdb', '*.ddb'],
    hints: [{ says: /read-only mode/, wayOut: 'It changes data: duckdb_execute does that.' }],
  },
  writing: ['-safe', '-bail'],
  tables:
    `SELECT schema_name AS "schema", table_name AS name, 'table' AS type, estimated_size AS rows ` +
    'FROM duckdb_tables() ' +
    `UNION ALL SELECT schema_name, view_name, 'view', NULL FROM duckdb_views() WHERE NOT ` +
    `internal ORDER BY 1, 2`,
  describe: (name) =>
    glue(
      `SELECT 'column' AS kind, column_name AS name, data_type AS type, is_nullable AS nullable, ` +
        'column_default AS "default" FROM duckdb_columns() WHERE table_name = ',
      name,
      " UNION ALL SELECT 'detail', sql, NULL, NULL, NULL FROM (SELECT table_name, sql FROM " +
        'duckdb_tables() UNION ALL ' +
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
  execute: (sql) => [glue('BEGIN; ', sql, ';\nCOMMIT;')],
  more: {},
};

const database = operand(path('Database file', 'file'));
const changed = { database: operand(path('Database file', 'file', { written: true })) };

export default family({ sqlite3, duckdb }, (row) => {
  const { title } = row.facts;
  const listed = tables((output) => json(table, output));
  return {
    ...row.facts,
    category: 'database' as const,
    // No file of the user's, which would be run; and no link, which could lead out of the roots.
    before: ['-init', '/dev/null', '-nofollow', '-batch'],
    actions: {
      tables: action(`List ${title} tables`, 'Tables and views of a database file.', reads, {
        role: 'tables',
        run: ({ database: file }) => [...reading, '-json', file, row.tables],
        params: { database },
        given: { database: 'shop.db' },
        out: listed,
      }),
      describe: action(`Describe a ${title} table`, 'Columns of a table, and its definition.', reads, {
        role: 'describe',
        run: ({ database: file, table: name }) => [...reading, '-json', file, row.describe(name)],
        params: { database, table: tableName },
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
      open: action(`Open a ${title} database`, 'Makes the file when there is none; its tables.', writes, {
        run: ({ database: file }) => [...row.writing, '-json', file, row.tables],
        params: changed,
        given: { database: 'new.db' },
        out: listed,
      }),
      execute: action(`Change a ${title} database`, 'SQL that writes: all, or on failure none.', loses, {
        run: ({ database: file, sql }) => [...row.writing, '-header', file, ...row.execute(sql)],
        params: {
          ...changed,
          sql: operand(statement.describe('One or more statements, with ; between them')),
        },
        given: { database: 'shop.db', sql: "UPDATE users SET name = 'Ada' WHERE id = 1" },
      }),
      ...row.more,
    },
  };
});
