import * as z from 'zod';
import {
  aside,
  type DatabaseDump,
  databaseDump,
  type DatabaseEngine,
  type DatabaseProgram,
  databaseProgram,
  databaseQuery,
  type DatabaseQuestion,
  limit,
  on,
  operand,
  option,
  type Params,
  path,
  told,
} from '../../core/grammar.ts';
import { columns, entries, rows, tables } from '../reports/kinds.ts';
import { json } from '../reports/readers.ts';
import * as mysql from './mysql-statements.ts';
import * as postgresql from './postgresql-statements.ts';
import { asks, fetches } from '../shared/programs.ts';

type Statements = Readonly<Record<string, string>>;
/** An engine, with the statements and programs that are its own. */
interface DatabaseRow {
  engine: DatabaseEngine;
  facts: Omit<DatabaseProgram, 'id' | 'category' | 'engine' | 'actions'>;
  databases: Statements;
  tables: Statements;
  describe: Statements;
  /** Tables are listed by a pattern of schemas. */
  schemas?: true;
  missing?: string;
  /** The SQL that is taken to change something. */
  says: string;
  dump: DatabaseDump;
}

// The database that is asked. Where it is, and as whom, is the operator's: a model does not choose whom to
// talk to.
const profile = aside(z.string().min(1).optional().describe('Named in the settings'));
const databaseName = z.string().regex(/^[A-Za-z0-9_][\w.@-]{0,62}$/, 'expected a name, no connection string');
const connection = {
  profile,
  database: aside(databaseName.optional().describe('Another one of that server')),
};

// That it is one query, and only reads, is said by the server; backslash commands are a program's.
const written = z
  .string()
  .min(1)
  .max(100_000)
  .refine(
    (text) => !/^\s*\\/.test(text),
    'backslash commands are not SQL; there are actions for what they list',
  )
  .refine((text) => !text.includes('\0'), 'contains a NUL character')
  .overwrite((text) => text.trim().replace(/[;\s]+$/, ''));
const sql = aside(written.describe('One SELECT, VALUES, TABLE or WITH; SHOW; or EXPLAIN ANALYZE of a query'));
const select = 'SELECT email FROM customers';

const text = z.string();
const answer = z.object({ columns: z.array(text), rows: z.array(z.array(z.unknown())), more: z.boolean() });
const shownRows = rows(() => ({ columns: [], rows: [], more: false }));
/** The count of rows that a statement changed, and what it returned. */
const done = json(answer.extend({ changed: z.int() }), ({ changed, ...found }) =>
  [
    `${changed} ${changed === 1 ? 'row' : 'rows'} changed`,
    ...(found.columns.length > 0 ? [shownRows.show(found as never)] : []),
  ].join('\n'),
);
const foundTables = z.object({
  tables: z.array(
    z.object({ schema: text, name: text, type: text, rows: z.number().nullable(), columns: text.nullish() }),
  ),
});
const column = z.object({ name: text, type: text, nullable: z.boolean(), default: text.nullable() });
const described = z.object({
  columns: z.array(column.extend({ nullable: z.union([z.boolean(), text]) })),
  details: z.array(z.object({ detail: text })),
});
const describedColumns = ({ columns: all, details }: z.output<typeof described>) => ({
  columns: all.map((one) => ({ ...one, nullable: one.nullable === true || one.nullable === 'YES' })),
  details: details.map(({ detail }) => detail),
});
const foundDatabases = z.object({ databases: z.array(z.object({ name: text, says: text.nullable() })) });

const tableName = z.string().regex(/^[^-\s][^\0]{0,199}$/, 'expected the name of a table');
/** A dump: a program that is told where to connect, and writes a new file. */
const dump = (title: string, client: readonly string[], run: readonly string[], params: Params) =>
  databaseDump(`Dump a ${title} database`, 'Writes a database, or one table, to a new file.', fetches, {
    client,
    run,
    writes: 'path',
    params: { ...connection, path: aside(path('New file', 'file', { written: true })), ...params } as Params,
    given: { path: 'shop.dump', database: 'shop', schema_only: true },
  });

const engines: Readonly<Record<string, DatabaseRow>> = {
  psql: {
    engine: 'postgresql',
    facts: {
      title: 'PostgreSQL',
      site: 'https://www.postgresql.org/docs/current/app-psql.html',
      get: { apt: 'postgresql-client', brew: 'libpq', winget: 'PostgreSQL.PostgreSQL.17' },
      version: { args: ['--version'], pattern: /psql \(PostgreSQL\) (\S+)/ },
      elsewhere: {
        linux: ['/usr/lib/postgresql/*/bin/psql'],
        darwin: [
          '/opt/homebrew/opt/libpq/bin/psql',
          '/usr/local/opt/libpq/bin/psql',
          '/Applications/Postgres.app/Contents/Versions/latest/bin/psql',
        ],
        win32: ['%ProgramFiles%/PostgreSQL/*/bin/psql.exe'],
      },
    },
    databases: { databases: postgresql.databasesSql },
    tables: { tables: postgresql.tablesSql },
    describe: postgresql.describeSql,
    schemas: true,
    says: 'Statements that write; several run in one transaction',
    dump: dump('PostgreSQL', ['pg_dump'], ['--no-password'], {
      plain: on('--format=plain', 'As SQL text instead', '--format=custom'),
      table: option('--table=', z.string().min(1).max(200).describe('Only this table or pattern')),
      schema_only: on('--schema-only', 'Without data'),
    }),
  },
  mysql: {
    engine: 'mysql',
    facts: {
      title: 'MySQL and MariaDB',
      site: 'https://dev.mysql.com/doc/refman/en/mysql.html',
      called: ['mariadb', 'mysql'],
      get: { apt: 'mariadb-client', brew: 'mysql-client', winget: 'Oracle.MySQL' },
      version: { args: ['--no-defaults', '--version'], pattern: /(\d+\.\d+\.\d+(?:-MariaDB)?)[, ]/ },
      elsewhere: {
        darwin: ['/opt/homebrew/opt/mysql-client/bin/mysql', '/usr/local/opt/mysql-client/bin/mysql'],
        win32: ['%ProgramFiles%/MySQL/*/bin/mysql.exe', '%ProgramFiles%/MariaDB */bin/mariadb.exe'],
      },
    },
    databases: { databases: mysql.databasesSql },
    tables: { tables: mysql.tablesSql },
    describe: mysql.describeSql,
    missing: 'there is no such table in the database.',
    says: 'One statement that writes',
    dump: dump(
      'MySQL',
      ['mariadb-dump', 'mysqldump'],
      ['--single-transaction', '--hex-blob', '--no-tablespaces'],
      {
        schema_only: on('--no-data', 'Without data'),
        database: operand(databaseName.describe('Which one')),
        table: operand(tableName.optional().describe('Only this table')),
      },
    ),
  },
};

const changesData = ['write', 'network', 'destroy'] as const;
const pattern = z.string().min(1).max(63).default('%').describe('Only of this schema; % and _ match any');

/** The actions that take a caller's own SQL. */
const withSql = ({ facts: { title }, says }: DatabaseRow): DatabaseProgram['actions'] => ({
  query: databaseQuery(`Query ${title}`, 'Runs one read-only query: its rows. EXPLAIN: its plan.', asks, {
    role: 'query',
    params: { ...connection, sql, limit: aside(limit(1000, 100)) },
    given: { sql: select },
    databaseQuestion: { query: 'sql', limit: 'limit' },
    out: rows(json(answer, (found) => found)),
  }),
  execute: databaseQuery(`Change a ${title} database`, 'Runs SQL that writes.', changesData, {
    params: { ...connection, sql: aside(written.describe(says)) },
    given: { sql: 'DELETE FROM carts WHERE id = 7' },
    databaseQuestion: { statement: 'sql' },
    out: told(done),
  }),
});

/** The actions that ask what there is. */
function catalogue(row: DatabaseRow): DatabaseProgram['actions'] {
  const { title } = row.facts;
  const listing = (lists: Statements, ...binds: string[]): DatabaseQuestion =>
    row.missing === undefined ? { lists, binds } : { lists, binds, missing: row.missing };
  const schema: Params = row.schemas ? { schema: aside(pattern) } : {};
  return {
    databases: databaseQuery(`List ${title} databases`, 'Databases of the server.', asks, {
      databaseQuestion: listing(row.databases),
      params: { profile },
      out: entries('database')(
        json(foundDatabases, (all) => all.databases.map(({ name, says }) => ({ name, says: says ?? '' }))),
      ),
    }),
    tables: databaseQuery(`List ${title} tables`, 'Tables and views of a database.', asks, {
      role: 'tables',
      databaseQuestion: listing(row.tables, ...Object.keys(schema)),
      params: { ...connection, ...schema },
      out: tables(json(foundTables, (all) => all.tables)),
    }),
    describe: databaseQuery(`Describe a ${title} table`, 'Columns, indexes, keys of a table.', asks, {
      role: 'describe',
      databaseQuestion: listing(row.describe, 'table'),
      params: { ...connection, table: aside(text.min(1).max(200).describe('As in SQL: sales.orders')) },
      given: { table: 'orders' },
      out: columns(json(described, describedColumns)),
    }),
  };
}

export default Object.entries(engines).map(([id, row]) =>
  databaseProgram(id, {
    ...row.facts,
    engine: row.engine,
    category: 'database',
    actions: { ...catalogue(row), ...withSql(row), dump: row.dump },
  }),
);
