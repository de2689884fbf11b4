import { it } from 'vitest';
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { sqlite3 } from '../../src/discoverers/sqlite3.ts';
import { psql } from '../../src/discoverers/psql.ts';
import { argvOf } from './real-program.ts';
const rec = (d: any, a: string, given: object, file: string, cwd: string, env: any = {}) => {
  const r = spawnSync(d.programs[0], argvOf(d, a, given), { cwd, encoding: 'utf8', env: { ...process.env, ...d.settings, ...env } });
  console.log(file, r.status, r.stdout, r.stderr);
  writeFileSync(`test/discoverers/recorded/${d.id}/${file}`, r.stdout);
};
it('rec', () => {
  const database = 'shop.db';
  rec(sqlite3, 'tables', { database }, 'tables.json', '/tmp/sq');
  rec(sqlite3, 'schema', { database, table: 'users' }, 'schema.json', '/tmp/sq');
  rec(sqlite3, 'query', { database, sql: 'SELECT *, id FROM users', limit: 2 }, 'query.json', '/tmp/sq');
  rec(sqlite3, 'query', { database, sql: 'SELECT * FROM users WHERE 0' }, 'no-rows.json', '/tmp/sq');
  const env = { PGHOST: '/tmp/pgrec', PGUSER: 'postgres' };
  rec(psql, 'databases', {}, 'databases.json', '/tmp', env);
  rec(psql, 'tables', { database: 'shop' }, 'tables.json', '/tmp', env);
  rec(psql, 'describe', { database: 'shop', table: 'orders' }, 'describe-table.json', '/tmp', env);
  rec(psql, 'describe', { database: 'shop', table: 'big' }, 'describe-view.json', '/tmp', env);
  rec(psql, 'query', { database: 'shop', sql: 'SELECT c.*, id FROM customers c ORDER BY email', limit: 1 }, 'query.xml', '/tmp', env);
  rec(psql, 'query', { database: 'shop', sql: 'SELECT * FROM customers WHERE false' }, 'no-rows.xml', '/tmp', env);
});
