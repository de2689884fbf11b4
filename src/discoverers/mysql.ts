import * as z from 'zod';
import { defineDiscoverer } from '../core/discoverer.ts';
import { flag, limit, path } from '../core/params.ts';
import { connection, plan, query, table } from './database-params.ts';
import { databasesSql, describeSql, tablesSql } from './mysql-queries.ts';

export const mysql = defineDiscoverer({
  id: 'mysql',
  title: 'MySQL and MariaDB',
  category: 'database',
  homepage: 'https://dev.mysql.com/doc/refman/en/mysql.html',
  programs: ['mariadb', 'mysql'],
  version: { args: ['--no-defaults', '--version'], pattern: /(\d+\.\d+\.\d+(?:-MariaDB)?)[, ]/ },
  elsewhere: {
    darwin: ['/opt/homebrew/opt/mysql-client/bin/mysql', '/usr/local/opt/mysql-client/bin/mysql'],
    win32: [
      '%ProgramFiles%/MySQL/MySQL Server 8.4/bin/mysql.exe',
      '%ProgramFiles%/MySQL/MySQL Server 8.0/bin/mysql.exe',
      '%ProgramFiles%/MariaDB 11.4/bin/mariadb.exe',
    ],
  },
  install: {
    linux: 'Install the package mariadb-client, for instance: sudo apt install mariadb-client',
    darwin: 'brew install mysql-client',
    win32: 'winget install Oracle.MySQL',
  },

  actions: {
    databases: {
      title: 'List MySQL databases',
      description: 'Databases of the server.',
      effects: ['read', 'network'],
      params: { profile: connection.profile },
      database: 'mysql',
      asks: { lists: { databases: databasesSql }, binds: [] },
      example: { runs: 'asks mysql for databases' },
      result: z.object({ databases: z.array(z.object({ name: z.string(), encoding: z.string() })) }),
    },
    tables: {
      title: 'List MySQL tables',
      description: 'Tables and views of a database.',
      effects: ['read', 'network'],
      params: connection,
      database: 'mysql',
      asks: { lists: { tables: tablesSql }, binds: [] },
      example: { runs: 'asks mysql for tables' },
      result: z.object({
        tables: z.array(
          z.object({
            schema: z.string(),
            name: z.string(),
            type: z.string(),
            engine: z.string().nullable(),
            estimated_rows: z.number().nullable(),
            comment: z.string(),
          }),
        ),
      }),
    },
    describe: {
      title: 'Describe a MySQL table',
      description: 'Columns, indexes and foreign keys of one table or view.',
      effects: ['read', 'network'],
      params: {
        ...connection,
        table: z.string().min(1).max(64).describe('Name, without that of its database'),
      },
      database: 'mysql',
      asks: { lists: describeSql, binds: ['table'], missing: 'there is no such table in the database.' },
      example: {
        given: { table: 'orders' },
        runs: 'asks mysql for columns, indexes, foreign_keys, view (orders)',
      },
      result: z.object({
        columns: z.array(
          z.object({
            name: z.string(),
            type: z.string(),
            nullable: z.string(),
            default: z.string().nullable(),
            extra: z.string(),
          }),
        ),
        indexes: z.array(z.object({ name: z.string(), columns: z.string(), unique: z.string() })),
        foreign_keys: z.array(z.object({ name: z.string(), column: z.string(), references: z.string() })),
        view: z.array(z.object({ definition: z.string() })),
      }),
    },
    query: {
      title: 'Query MySQL',
      description: 'Runs one read-only query and returns its rows.',
      effects: ['read', 'network'],
      params: { ...connection, sql: query, limit: limit(1000, 100) },
      database: 'mysql',
      asks: { query: 'sql', limit: 'limit' },
      example: {
        given: { sql: 'SELECT email FROM customers' },
        runs: 'asks mysql: SELECT email FROM customers',
      },
      result: table,
    },
    explain: {
      title: 'Explain a MySQL query',
      description: 'The plan of a query, which is not run.',
      effects: ['read', 'network'],
      params: { ...connection, sql: query },
      database: 'mysql',
      asks: { explain: 'sql' },
      example: {
        given: { sql: 'SELECT email FROM customers' },
        runs: 'asks mysql to explain: SELECT email FROM customers',
      },
      result: plan,
    },
    dump: {
      title: 'Dump a MySQL database',
      description: 'Writes a database, or one table, as SQL to a new file.',
      effects: ['write', 'network'],
      params: {
        profile: connection.profile,
        database: connection.database.unwrap().describe('Which one'),
        path: path('New file', 'file', { written: true }),
        table: z
          .string()
          .regex(/^[^-\s][^\0]{0,63}$/, 'expected the name of a table')
          .optional()
          .describe('Only this table'),
        schema_only: flag('Without data'),
      },
      database: 'mysql',
      client: ['mariadb-dump', 'mysqldump'],
      template: [
        '--single-transaction',
        '--hex-blob',
        '--no-tablespaces',
        { flag: '--no-data', param: 'schema_only' },
        '--',
        { param: 'database' },
        { param: 'table' },
      ],
      writes: 'path',
      example: {
        given: { database: 'shop', path: 'shop.sql', schema_only: true },
        runs: 'mariadb-dump --single-transaction --hex-blob --no-tablespaces --no-data -- shop > shop.sql',
      },
    },
  },
});
