import * as z from 'zod';
import { type Arg, defineDiscoverer } from '../core/discoverer.ts';
import { limit } from '../core/params.ts';
import { parseExactly } from './exact-json.ts';
import {
  describeSql,
  databasesSql,
  notToolcrib,
  queryFollows,
  queryPrecedes,
  tablesSql,
} from './psql-queries.ts';

const name = (what: string) =>
  z
    .string()
    .regex(/^[A-Za-z0-9_][\w.@-]{0,62}$/, 'expected a name, no connection string')
    .describe(what);

// Which other machine is asked, and with which password, is up to the operator: PGHOST, PGSERVICE, ~/.pgpass.
const connection = {
  database: name('Default: as configured (PGDATABASE)').optional(),
  user: name('Role to connect as').optional(),
  host: z
    .enum(['localhost', '127.0.0.1', '::1'])
    .optional()
    .describe('Default: as configured (PGHOST) or the local socket'),
  port: z.int().min(1).max(65_535).optional().describe('Server port'),
};

// psql reads backslash commands only at the start of a -c argument, and every one begins with SQL of ours.
const connect: Arg<keyof typeof connection>[] = [
  { option: '--dbname=', param: 'database' },
  { option: '--username=', param: 'user' },
  { option: '--host=', param: 'host' },
  { option: '--port=', param: 'port' },
  '--command=BEGIN READ ONLY',
  "--command=SET LOCAL statement_timeout = '30s'",
];

const always = [
  '--no-psqlrc',
  '--no-password',
  '--quiet',
  '--no-align',
  '--tuples-only',
  '--set=ON_ERROR_STOP=1',
  '--set=SHOW_CONTEXT=never',
];
const exampleStart = `psql ${always.join(' ')} --dbname=shop '--command=BEGIN READ ONLY' '--command=SET LOCAL statement_timeout = '\\''30s'\\'''`;
const quoted = (arg: string) => `'${arg.replaceAll("'", `'\\''`)}'`;

// What a SELECT can still do when the role is a superuser (read files of the server, connect elsewhere, change large
// objects, end sessions), and ways to run text as SQL that would hide it. A role with fewer rights is the real fence.
const reachesOut = [
  'dblink\\w*|http_\\w+|lo_\\w+|lowrite|loread|set_config|query_to_xml\\w*|cursor_to_xml\\w*|xpath_table',
  'ts_stat|ts_rewrite|crosstab\\w*|connectby|pg_read_\\w+|pg_ls_\\w+|pg_stat_file|pg_file_\\w+|pg_logfile_\\w+',
  'pg_current_logfile|pg_(?:terminate|cancel)_backend|pg_reload_conf|pg_rotate_logfile|pg_promote|pg_switch_\\w+',
  'pg_create_\\w+|pg_drop_\\w+|pg_(?:wal|xlog)_\\w+|pg_(?:start|stop)_backup|pg_backup_\\w+|pg_replication_\\w+',
  'pg_logical_\\w+|pg_copy_\\w+|pg_stat_\\w*reset\\w*|pg_notify|pg_import_\\w+|pg_\\w*advisory\\w*',
].join('|');
const callOf = new RegExp(`(?<![\\w$])(${reachesOut})"?\\s*(?:\\(|/\\*|--)`, 'i');

const sql = z
  .string()
  .min(1)
  .max(100_000)
  .refine(
    (text) => !/^\s*\\/.test(text),
    'backslash commands are not SQL; use the databases, tables and describe actions',
  )
  .refine((text) => !text.includes(notToolcrib), `must not contain ${notToolcrib}`)
  .refine((text) => !/u&"/i.test(text), 'U&"…" identifiers are refused')
  .refine((text) => !callOf.test(text), {
    error: (issue) => `the function ${callOf.exec(String(issue.input))?.[1]} reaches outside the database`,
  })
  .overwrite((text) => text.trim().replace(/[;\s]+$/, ''))
  .describe('One SELECT, VALUES, TABLE or WITH');

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
  environment: [
    'PGHOST',
    'PGPORT',
    'PGUSER',
    'PGDATABASE',
    'PGPASSWORD',
    'PGPASSFILE',
    'PGSERVICE',
    'PGSERVICEFILE',
    'PGSSLMODE',
    'PGSSLROOTCERT',
    'PGSSLCERT',
    'PGSSLKEY',
    'PGREQUIRESSL',
  ],
  settings: { PGCLIENTENCODING: 'UTF8', PGCONNECT_TIMEOUT: '10', PGAPPNAME: 'toolcrib' },
  prefix: always,
  hints: [
    {
      says: /could not connect|connection to server .* failed|Connection refused/,
      wayOut:
        'Is the server running, and are host, port, user and database right? PGHOST, PGPORT and PGSERVICE of the server are used when left out.',
    },
    {
      says: /syntax error|read-only transaction|not a non-volatile/,
      wayOut: 'One SELECT is run, in a read-only transaction: nothing that changes data.',
    },
  ],

  actions: {
    databases: {
      title: 'List PostgreSQL databases',
      description: 'Databases of the server with owner and size.',
      effects: ['read', 'network'],
      params: { ...connection, database: connection.database.default('postgres') },
      argv: [...connect, `--command=${databasesSql}`],
      example: {
        given: { database: 'shop' },
        runs: `${exampleStart} ${quoted(`--command=${databasesSql}`)}`,
      },
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
      parse: (stdout) => ({ databases: listed(stdout) }),
    },
    tables: {
      title: 'List PostgreSQL tables',
      description: 'Tables, views and sequences of a database.',
      effects: ['read', 'network'],
      params: {
        ...connection,
        schema: z
          .string()
          .regex(/^[^'\\$\0]{1,63}$/, 'expected a schema name')
          .default('%')
          .describe('Only of this schema; % and _ match any'),
      },
      argv: [...connect, { join: [`--command=${tablesSql[0]}`, { param: 'schema' }, tablesSql[1]] }],
      example: {
        given: { database: 'shop', schema: 'public' },
        runs: `${exampleStart} ${quoted(`--command=${tablesSql.join('public')}`)}`,
      },
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
      parse: (stdout) => ({ tables: listed(stdout) }),
    },
    describe: {
      title: 'Describe a PostgreSQL table',
      description: 'Columns, indexes and constraints of one table or view.',
      effects: ['read', 'network'],
      params: {
        ...connection,
        table: z
          .string()
          .regex(/^[^'\\$\0]{1,200}$/, 'expected a table name')
          .describe('As in SQL: orders, sales.orders, "Mixed Case"'),
      },
      argv: [...connect, { join: [`--command=${describeSql[0]}`, { param: 'table' }, describeSql[1]] }],
      example: {
        given: { database: 'shop', table: 'orders' },
        runs: `${exampleStart} ${quoted(`--command=${describeSql.join('orders')}`)}`,
      },
      result: z.object({
        name: z.string(),
        columns: z.array(
          z.object({
            name: z.string(),
            type: z.string(),
            nullable: z.boolean(),
            default: z.string().nullable(),
          }),
        ),
        indexes: z.array(z.string()),
        constraints: z.array(z.object({ name: z.string(), definition: z.string() })),
        definition: z.string().nullable(),
      }),
      parse: described,
    },
    query: {
      title: 'Query PostgreSQL',
      description: 'Runs one read-only query and returns its rows.',
      effects: ['read', 'network'],
      params: { ...connection, sql, limit: limit(1000, 100) },
      argv: [
        ...connect,
        {
          join: [
            `--command=${queryPrecedes[0]}`,
            { param: 'limit' },
            queryPrecedes[1],
            { param: 'sql' },
            queryFollows[0],
            { param: 'limit' },
            queryFollows[1],
          ],
        },
      ],
      example: {
        given: { database: 'shop', sql: 'SELECT email FROM customers', limit: 10 },
        runs: `${exampleStart} ${quoted(
          `--command=${queryPrecedes.join('10')}SELECT email FROM customers${queryFollows.join('10')}`,
        )}`,
      },
      result: z.object({
        columns: z.array(z.string()),
        rows: z.array(z.array(z.unknown())),
        truncated: z.boolean(),
      }),
      parse: queriedRows,
    },
  },
});

function listed(stdout: string): unknown[] {
  const list = parseExactly(stdout);
  if (!Array.isArray(list)) throw new Error('expected a JSON array');
  return list;
}

function described(stdout: string): unknown {
  const table = parseExactly(stdout);
  if (typeof table !== 'object' || table === null || Array.isArray(table))
    throw new Error('expected a JSON object');
  return table;
}

type Cell = readonly [column: string, value: unknown];

/** The rows come as JSON inside XML, each as pairs, since a JSON object cannot hold two columns of one name. */
function queriedRows(stdout: string) {
  const xml = /<result>([^]*)<\/result>/.exec(stdout)?.[1];
  if (xml === undefined) throw new Error('expected a result element');
  const { most, rows } = parseExactly(unescapeXml(xml)) as { most: number; rows: (Cell[] | null)[] };
  const kept = rows.slice(0, most).map((row) => row ?? []);
  return {
    columns: (kept[0] ?? []).map(([column]) => column),
    rows: kept.map((row) => row.map(([, value]) => value)),
    truncated: rows.length > kept.length,
  };
}

const unescapeXml = (text: string): string =>
  text.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&#x0d;', '\r').replaceAll('&amp;', '&');
