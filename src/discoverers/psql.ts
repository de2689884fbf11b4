import * as z from 'zod';
import { defineDiscoverer } from '../core/discoverer.ts';
import { flag, limit, path } from '../core/params.ts';
import { connection, plan, query, table } from './database-params.ts';
import { databasesSql, describeSql, tablesSql } from './psql-queries.ts';

export const psql = defineDiscoverer({
  id: 'psql',
  title: 'PostgreSQL',
  category: 'database',
  homepage: 'https://www.postgresql.org/docs/current/app-psql.html',
  programs: ['psql'],
  version: { args: ['--version'], pattern: /psql \(PostgreSQL\) (\S+)/ },
  elsewhere: {
    linux: [
      '/usr/lib/postgresql/17/bin/psql',
      '/usr/lib/postgresql/16/bin/psql',
      '/usr/lib/postgresql/15/bin/psql',
    ],
    darwin: [
      '/opt/homebrew/opt/libpq/bin/psql',
      '/usr/local/opt/libpq/bin/psql',
      '/Applications/Postgres.app/Contents/Versions/latest/bin/psql',
    ],
    win32: [
      '%ProgramFiles%/PostgreSQL/18/bin/psql.exe',
      '%ProgramFiles%/PostgreSQL/17/bin/psql.exe',
      '%ProgramFiles%/PostgreSQL/16/bin/psql.exe',
    ],
  },
  install: {
    linux: 'Install the package postgresql-client, for instance: sudo apt install postgresql-client',
    darwin: 'brew install libpq',
    win32: 'winget install PostgreSQL.PostgreSQL.17',
  },
  hints: [
    {
      says: /text format dump/,
      wayOut:
        'Only dumps made without plain can be restored: SQL text is for psql, which runs commands in it.',
    },
  ],

  actions: {
    databases: {
      title: 'List PostgreSQL databases',
      description: 'Databases of the server with owner and size.',
      effects: ['read', 'network'],
      params: { profile: connection.profile },
      database: 'postgresql',
      asks: { lists: { databases: databasesSql }, binds: [] },
      example: { runs: 'asks postgresql for databases' },
      result: z.object({
        databases: z.array(
          z.object({
            name: z.string(),
            owner: z.string(),
            encoding: z.string(),
            size_bytes: z.number().nullable(),
          }),
        ),
      }),
    },
    tables: {
      title: 'List PostgreSQL tables',
      description: 'Tables, views and sequences of a database.',
      effects: ['read', 'network'],
      params: {
        ...connection,
        schema: z.string().min(1).max(63).default('%').describe('Only of this schema; % and _ match any'),
      },
      database: 'postgresql',
      asks: { lists: { tables: tablesSql }, binds: ['schema'] },
      example: { given: { schema: 'public' }, runs: 'asks postgresql for tables (public)' },
      result: z.object({
        tables: z.array(
          z.object({
            schema: z.string(),
            name: z.string(),
            type: z.string(),
            estimated_rows: z.number().nullable(),
            comment: z.string().nullable(),
          }),
        ),
      }),
    },
    describe: {
      title: 'Describe a PostgreSQL table',
      description: 'Columns, indexes and constraints of one table or view.',
      effects: ['read', 'network'],
      params: {
        ...connection,
        table: z.string().min(1).max(200).describe('As in SQL: orders, sales.orders, "Mixed Case"'),
      },
      database: 'postgresql',
      asks: { lists: describeSql, binds: ['table'] },
      example: {
        given: { table: 'orders' },
        runs: 'asks postgresql for columns, indexes, constraints, view (orders)',
      },
      result: z.object({
        columns: z.array(
          z.object({
            name: z.string(),
            type: z.string(),
            nullable: z.boolean(),
            default: z.string().nullable(),
          }),
        ),
        indexes: z.array(z.object({ definition: z.string() })),
        constraints: z.array(z.object({ name: z.string(), definition: z.string() })),
        view: z.array(z.object({ definition: z.string() })),
      }),
    },
    query: {
      title: 'Query PostgreSQL',
      description: 'Runs one read-only query and returns its rows.',
      effects: ['read', 'network'],
      params: { ...connection, sql: query, limit: limit(1000, 100) },
      database: 'postgresql',
      asks: { query: 'sql', limit: 'limit' },
      example: {
        given: { sql: 'SELECT email FROM customers' },
        runs: 'asks postgresql: SELECT email FROM customers',
      },
      result: table,
    },
    explain: {
      title: 'Explain a PostgreSQL query',
      description: 'The plan of a query, which is not run.',
      effects: ['read', 'network'],
      params: { ...connection, sql: query },
      database: 'postgresql',
      asks: { explain: 'sql' },
      example: {
        given: { sql: 'SELECT email FROM customers' },
        runs: 'asks postgresql to explain: SELECT email FROM customers',
      },
      result: plan,
    },
    dump: {
      title: 'Dump a PostgreSQL database',
      description: 'Writes a database, or one table, to a new file that psql_restore reads.',
      effects: ['write', 'network'],
      params: {
        ...connection,
        path: path('New file', 'file', { written: true }),
        table: z.string().min(1).max(200).optional().describe('Only this table or pattern'),
        schema_only: flag('Without data'),
        plain: flag('As SQL text instead'),
      },
      database: 'postgresql',
      client: ['pg_dump'],
      template: [
        '--no-password',
        { flag: '--schema-only', param: 'schema_only' },
        { option: '--table=', param: 'table' },
        { choose: 'plain', from: { true: ['--format=plain'], false: ['--format=custom'] } },
      ],
      writes: 'path',
      example: {
        given: { path: 'shop.dump', schema_only: true },
        runs: 'pg_dump --no-password --schema-only --format=custom > shop.dump',
      },
    },
    restore: {
      title: 'Restore a PostgreSQL dump',
      description: 'Runs a dump made by psql_dump in a database: all of it, or on failure none.',
      // A dump is SQL, which runs programs on the server when the role may.
      effects: ['write', 'execute', 'network', 'destroy'],
      params: {
        ...connection,
        path: path('Dump that is not plain', 'file'),
        clean: flag('First drop what the dump has'),
      },
      database: 'postgresql',
      // It speaks SQL to the server and has no commands; psql, which text dumps are for, runs programs that they name.
      client: ['pg_restore'],
      template: [
        '--no-password',
        '--exit-on-error',
        '--single-transaction',
        '--no-owner',
        { choose: 'clean', from: { true: ['--clean', '--if-exists'], false: [] } },
        { param: 'path' },
      ],
      example: {
        given: { path: 'shop.dump' },
        runs: 'pg_restore --no-password --exit-on-error --single-transaction --no-owner shop.dump',
      },
    },
  },
});
