import { startMariadb } from '../discoverers/mariadb-server.ts';
import { startServer } from '../discoverers/postgres-server.ts';
import type { ProgramTrial } from './types.ts';

const setup = 'CREATE TABLE orders(id integer PRIMARY KEY, note text); INSERT INTO orders VALUES (1, NULL);';
const calls = (database: string, table: RegExp): ProgramTrial['calls'] => [
  ['databases', {}, new RegExp(database)],
  ['tables', { database }, /^1 table\n(?:\w+\.)?orders/],
  ['describe', { database, table: 'orders' }, table],
  ['describe', { database, table: 'nope' }, /NOT_FOUND|no such table|nope/],
  ['query', { database, sql: 'SELECT count(*) AS n FROM orders' }, /^1 row\nn\n1/],
  ['query', { database, sql: 'DELETE FROM orders' }, /PROGRAM_FAILED[^]*(?:read.only|One SELECT)/i],
  ['execute', { database, sql: "INSERT INTO orders VALUES (2, 'ü')" }, /^1 row/],
  ['query', { database, sql: 'SELECT note FROM orders ORDER BY id' }, /^2 rows\nnote\nNULL\nü/i],
];

export default [
  {
    program: 'psql',
    from: { apt: 'postgresql' },
    start: () => {
      const server = startServer(setup);
      return Promise.resolve({ env: server.env, end: () => server.stop() });
    },
    files: {},
    broken: { env: { PGHOST: '/nowhere' } },
    calls: [
      ...calls('postgres', /^2 columns\nid integer.*\nnote text/),
      ['dump', { database: 'postgres', path: 'shop.sql', plain: true }, /shop\.sql/],
    ],
  },
  {
    program: 'mysql',
    from: { apt: 'mariadb-server' },
    start: async () => {
      const server = await startMariadb(`CREATE DATABASE shop; USE shop; ${setup}`);
      const env = {
        DATABASE_URL: `mysql://root@localhost/shop?socket=${encodeURIComponent(server.socket)}`,
      };
      return { env, end: () => server.stop() };
    },
    files: {},
    broken: { env: { DATABASE_URL: 'mysql://root@127.0.0.1:1/shop' } },
    calls: [
      ...calls('shop', /^2 columns\nid int.*\nnote text/),
      ['dump', { database: 'shop', path: 'shop.sql' }, /shop\.sql/],
    ],
  },
] satisfies ProgramTrial[];
