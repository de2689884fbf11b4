import * as z from 'zod';
import type { DatabaseEngine, Question } from '../../core/discoverer.ts';
import { aside, on, operand, option } from '../../core/parameter.ts';
import { limit, path } from '../../core/params.ts';
import { action, family, type Line, type Program, type ProgramAction } from '../../core/program.ts';
import { told } from '../../core/report.ts';
import { columns, entries, rows, tables } from '../reports/kinds.ts';
import { json } from '../reports/readers.ts';
import * as mysql from './mysql-statements.ts';
import * as postgresql from './postgresql-statements.ts';

type Lists = Extract<Question, { lists: object }>['lists'];
interface Row extends Pick<Program, 'title' | 'site' | 'get' | 'called' | 'version' | 'elsewhere' | 'hints'> {
  engine: DatabaseEngine;
  databases: Lists;
  tables: Lists;
  schema?: true;
  describe: Lists;
  missing?: string;
  /** What it takes to change something. */
  says: string;
  more: Program['actions'];
}

// Which database is asked. Where it is, and as whom, is the operator's: a model does not choose whom to talk to.
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
/** What a statement changed, and what it returned. */
const done = json(answer.extend({ changed: z.int() }), ({ changed, ...found }) =>
  [
    `${changed} ${changed === 1 ? 'row' : 'rows'} changed`,
    ...(found.columns.length > 0 ? [shownRows.show(found as never)] : []),
  ].join('\n'),
);
const foundTables = z.object({
  tables: z.array(z.object({ schema: text, name: text, type: text, rows: z.number().nullable() })),
});
const column = z.object({ name: text, type: text, nullable: z.boolean(), default: text.nullable() });
const described = z.object({
  columns: z.array(column.extend({ nullable: z.union([z.boolean(), text]) })),
  details: z.array(z.object({ detail: text })),
});
const foundDatabases = z.object({ databases: z.array(z.object({ name: text, says: text.nullable() })) });

const path_ = (says: string) => aside(path(says, 'file', { written: true }));
const tableName = z.string().regex(/^[^-\s][^\0]{0,199}$/, 'expected the name of a table');
/** A dump: a program that is told where to connect, and writes a new file. */
const dump = (
  title: string,
  engine: DatabaseEngine,
  client: readonly string[],
  run: Line<never>,
  params: object,
) =>
  action(
    `Dump a ${title} database`,
    'Writes a database, or one table, to a new file.',
    ['write', 'network'],
    {
      database: engine,
      client,
      run,
      writes: 'path',
      params: { ...connection, path: path_('New file'), ...params },
      given: { path: 'shop.dump', database: 'shop', schema_only: true },
    } as never,
  );

const restore: ProgramAction = action(
  'Restore a PostgreSQL dump',
  'Runs a dump made by psql_dump in a database: all of it, or on failure none.',
  // A dump is SQL, which runs programs on the server when the role may.
  ['write', 'execute', 'network', 'destroy'],
  {
    database: 'postgresql',
    // It speaks SQL to the server and has no commands; psql, which text dumps are for, runs programs that they name.
    client: ['pg_restore'],
    run: ['--no-password', '--exit-on-error', '--single-transaction', '--no-owner'],
    params: {
      ...connection,
      clean: on(['--clean', '--if-exists'], 'First drop what the dump has'),
      path: operand(path('Dump that is not plain', 'file')),
    },
    given: { path: 'shop.dump' },
  },
);

const rowsOfFamily: Readonly<Record<string, Row>> = {
  psql: {
    engine: 'postgresql',
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
    hints: [
      {
        says: /text format dump/,
        wayOut:
          'Only dumps made without plain can be restored: SQL text is for psql, which runs commands in it.',
      },
    ],
    databases: { databases: postgresql.databasesSql },
    tables: { tables: postgresql.tablesSql },
    schema: true,
    describe: postgresql.describeSql,
    says: 'Statements that write; several run in one transaction',
    more: {
      dump: dump('PostgreSQL', 'postgresql', ['pg_dump'], ['--no-password'], {
        plain: on('--format=plain', 'As SQL text instead', '--format=custom'),
        table: option('--table=', z.string().min(1).max(200).describe('Only this table or pattern')),
        schema_only: on('--schema-only', 'Without data'),
      }),
      restore,
    },
  },
  mysql: {
    engine: 'mysql',
    title: 'MySQL and MariaDB',
    site: 'https://dev.mysql.com/doc/refman/en/mysql.html',
    called: ['mariadb', 'mysql'],
    get: { apt: 'mariadb-client', brew: 'mysql-client', winget: 'Oracle.MySQL' },
    version: { args: ['--no-defaults', '--version'], pattern: /(\d+\.\d+\.\d+(?:-MariaDB)?)[, ]/ },
    elsewhere: {
      darwin: ['/opt/homebrew/opt/mysql-client/bin/mysql', '/usr/local/opt/mysql-client/bin/mysql'],
      win32: ['%ProgramFiles%/MySQL/*/bin/mysql.exe', '%ProgramFiles%/MariaDB */bin/mariadb.exe'],
    },
    databases: { databases: mysql.databasesSql },
    tables: { tables: mysql.tablesSql },
    describe: mysql.describeSql,
    says: 'One statement that writes',
    missing: 'there is no such table in the database.',
    more: {
      dump: dump(
        'MySQL',
        'mysql',
        ['mariadb-dump', 'mysqldump'],
        ['--single-transaction', '--hex-blob', '--no-tablespaces'],
        {
          schema_only: on('--no-data', 'Without data'),
          database: operand(databaseName.describe('Which one')),
          table: operand(tableName.optional().describe('Only this table')),
        },
      ),
    },
  },
};

const asks = (lists: Lists, missing: string | undefined, ...binds: string[]) => ({
  asks: { lists, binds, ...(missing && { missing }) } as never,
});

const asking = ({ engine, title, says, describe, missing }: Row): Program['actions'] => {
  const shared = { database: engine } as const;
  return {
    describe: action(
      `Describe a ${title} table`,
      'Columns, indexes, keys of a table or view.',
      ['read', 'network'],
      {
        ...shared,
        role: 'describe',
        params: {
          ...connection,
          table: aside(z.string().min(1).max(200).describe('As in SQL: orders, sales.orders')),
        },
        given: { table: 'orders' },
        ...asks(describe, missing, 'table'),
        out: columns(
          json(described, ({ columns: all, details }) => ({
            columns: all.map(({ nullable, ...one }) => ({
              ...one,
              nullable: nullable === true || nullable === 'YES',
            })),
            details: details.map(({ detail }) => detail),
          })),
        ),
      },
    ),
    query: action(`Query ${title}`, 'Runs one read-only query and returns its rows.', ['read', 'network'], {
      ...shared,
      role: 'query',
      params: { ...connection, sql, limit: aside(limit(1000, 100)) },
      given: { sql: select },
      asks: { query: 'sql', limit: 'limit' },
      out: rows(json(answer, (found) => found)),
    }),
    explain: action(
      `Explain a ${title} query`,
      'The plan of a query, which is not run.',
      ['read', 'network'],
      {
        ...shared,
        params: { ...connection, sql },
        given: { sql: select },
        asks: { explain: 'sql' },
        out: told(json(z.object({ plan: z.unknown() }), ({ plan }) => textOf(plan))),
      },
    ),
    execute: action(`Change a ${title} database`, 'Runs SQL that writes.', ['write', 'network', 'destroy'], {
      ...shared,
      params: { ...connection, sql: aside(written.describe(says)) },
      given: { sql: 'DELETE FROM carts WHERE id = 7' },
      asks: { statement: 'sql' },
      out: told(done),
    }),
  };
};

export default family(rowsOfFamily, (row) => {
  const {
    engine,
    title,
    more,
    says: _,
    schema,
    describe: __,
    missing,
    databases,
    tables: listed,
    ...facts
  } = row;
  const shared = { database: engine } as const;
  const pattern = z.string().min(1).max(63).default('%').describe('Only of this schema; % and _ match any');
  return {
    ...facts,
    title,
    category: 'database',
    actions: {
      databases: action(`List ${title} databases`, 'Databases of the server.', ['read', 'network'], {
        ...shared,
        params: { profile },
        ...asks(databases, missing),
        out: entries('database')(
          json(foundDatabases, (all) => all.databases.map(({ name, says }) => ({ name, says: says ?? '' }))),
        ),
      }),
      tables: action(`List ${title} tables`, 'Tables and views of a database.', ['read', 'network'], {
        ...shared,
        role: 'tables',
        params: { ...connection, ...(schema && { schema: aside(pattern) }) },
        ...(schema ? asks(listed, missing, 'schema') : asks(listed, missing)),
        out: tables(json(foundTables, (all) => all.tables)),
      }),
      ...asking(row),
      ...more,
    },
  };
});

const textOf = (plan: unknown): string => (typeof plan === 'string' ? plan : JSON.stringify(plan));
