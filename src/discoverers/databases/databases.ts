import * as z from 'zod';
import type { DatabaseEngine, DatabaseQuestion } from '../../core/discoverer.ts';
import { aside, on, operand, option } from '../../core/parameter.ts';
import { limit, path } from '../../core/params.ts';
import { action, family, type Line, type Program, type ProgramAction } from '../../core/program.ts';
import { told } from '../../core/report.ts';
import { columns, entries, rows, tables } from '../reports/kinds.ts';
import { json } from '../reports/readers.ts';
import * as mysql from './mysql-statements.ts';
import * as postgresql from './postgresql-statements.ts';
import { asks, fetches } from '../shared/programs.ts';

type Lists = Extract<DatabaseQuestion, { lists: object }>['lists'];
interface Row {
  engine: DatabaseEngine;
  facts: Omit<Program, 'id' | 'category' | 'actions'>;
  databases: Lists;
  tables: Lists;
  describe: Lists;
  /** Whether tables are listed by a pattern of schemas. */
  schemas?: true;
  missing?: string;
  /** What it takes to change something. */
  says: string;
  dump: ProgramAction;
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
const dump = (
  title: string,
  engine: DatabaseEngine,
  client: readonly string[],
  run: Line<never>,
  params: object,
) =>
  action(`Dump a ${title} database`, 'Writes a database, or one table, to a new file.', fetches, {
    database: engine,
    client,
    run,
    writes: 'path',
    params: { ...connection, path: aside(path('New file', 'file', { written: true })), ...params },
    given: { path: 'shop.dump', database: 'shop', schema_only: true },
  } as never);

const engines: Readonly<Record<string, Row>> = {
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
    dump: dump('PostgreSQL', 'postgresql', ['pg_dump'], ['--no-password'], {
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
};

const pattern = z.string().min(1).max(63).default('%').describe('Only of this schema; % and _ match any');

const asking = ({ engine, facts: { title }, says }: Row): Program['actions'] => {
  const database = { database: engine } as const;
  return {
    query: action(`Query ${title}`, 'Runs one read-only query: its rows. EXPLAIN: its plan.', asks, {
      ...database,
      role: 'query',
      params: { ...connection, sql, limit: aside(limit(1000, 100)) },
      given: { sql: select },
      databaseQuestion: { query: 'sql', limit: 'limit' },
      out: rows(json(answer, (found) => found)),
    }),
    execute: action(`Change a ${title} database`, 'Runs SQL that writes.', ['write', 'network', 'destroy'], {
      ...database,
      params: { ...connection, sql: aside(written.describe(says)) },
      given: { sql: 'DELETE FROM carts WHERE id = 7' },
      databaseQuestion: { statement: 'sql' },
      out: told(done),
    }),
  };
};

export default family(engines, (row) => {
  const { title } = row.facts;
  const lists = (all: Lists, ...binds: string[]) => ({
    database: row.engine,
    databaseQuestion: { lists: all, binds, ...(row.missing && { missing: row.missing }) } as never,
  });
  return {
    ...row.facts,
    category: 'database',
    actions: {
      databases: action(`List ${title} databases`, 'Databases of the server.', asks, {
        ...lists(row.databases),
        params: { profile },
        out: entries('database')(
          json(foundDatabases, (all) => all.databases.map(({ name, says }) => ({ name, says: says ?? '' }))),
        ),
      }),
      tables: action(`List ${title} tables`, 'Tables and views of a database.', asks, {
        role: 'tables',
        ...lists(row.tables, ...(row.schemas ? ['schema'] : [])),
        params: { ...connection, ...(row.schemas && { schema: aside(pattern) }) },
        out: tables(json(foundTables, (all) => all.tables)),
      }),
      describe: action(`Describe a ${title} table`, 'Columns, indexes, keys of a table.', asks, {
        role: 'describe',
        ...lists(row.describe, 'table'),
        params: { ...connection, table: aside(text.min(1).max(200).describe('As in SQL: sales.orders')) },
        given: { table: 'orders' },
        out: columns(json(described, describedColumns)),
      }),
      ...asking(row),
      dump: row.dump,
    },
  };
});
