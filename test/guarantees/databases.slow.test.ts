import { execFileSync, spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hasProgram } from '../discoverers/real-program.ts';
import { serverFolder, startServer, type Server } from '../discoverers/postgres-server.ts';
import { changePostgres, queryPostgres, querySqlite } from './acts.ts';
import { lasting, person, says } from './person.ts';
import type { Session } from './session.ts';
import { program } from './session.ts';
import { makeWorld, secretText } from './world.ts';

describe.runIf(hasProgram('sqlite3', '--version'))('a query of an SQLite database', () => {
  const world = makeWorld();
  const secret = join(world.outside, 'secret.txt');
  const ada = person(says.no);
  let session: Session;
  beforeAll(async () => {
    const table = "CREATE TABLE orders (id, item); INSERT INTO orders VALUES (1, 'tea'), (2, 'milk');";
    execFileSync('sqlite3', [join(world.project, 'data.db'), table]);
    execFileSync('sqlite3', [
      join(world.outside, 'other.db'),
      `CREATE TABLE t (a); INSERT INTO t VALUES ('${secretText}');`,
    ]);
    session = await world.open({ person: ada });
  });
  afterAll(() => world.end());
  const query = (sql: string) => session.does(querySqlite('data.db', sql));

  it('is answered with its rows', async () => {
    expect((await query('SELECT item FROM orders ORDER BY id')).text).toMatch(/tea[^]*milk/);
  });

  it.each([
    "INSERT INTO orders VALUES (3, 'x')",
    'DELETE FROM orders',
    'SELECT 1; DELETE FROM orders',
    'WITH d AS (SELECT 1) DELETE FROM orders',
    'PRAGMA writable_schema = 1',
    "ATTACH 'new.db' AS new",
    "VACUUM INTO 'copy.db'",
    'SELECT 1) ; DELETE FROM orders; --',
    'PRAGMA user_version = 7',
  ])('ATTACK 82: changes nothing unless a person agrees: %s', async (sql) => {
    const before = world.snapshot();
    await query(sql);
    expect(world.snapshot()).toEqual(before);
  });

  it.each([
    '.shell touch stolen',
    'SELECT 1);\n.shell touch stolen\nSELECT * FROM (SELECT 1',
    '.output stolen',
    '\n.system touch stolen',
    "SELECT writefile('stolen', 'x')",
    "SELECT load_extension('x')",
    "SELECT edit('', 'touch stolen')",
  ])('ATTACK 81, 82: runs and writes nothing outside the database: %s', async (sql) => {
    const before = world.snapshot();
    await query(sql);
    expect(world.snapshot()).toEqual(before);
  });

  it.each([
    `SELECT readfile('${secret}')`,
    `.read ${secret}`,
    `.import ${secret} t`,
    `ATTACH '${join(world.outside, 'other.db')}' AS o`,
  ])('ATTACK 82: shows nothing outside the database: %s', async (sql) => {
    expect((await query(sql)).text).not.toContain(secretText);
  });

  it('opens no database outside the roots', async () => {
    const { refused, text } = await session.does(
      querySqlite(join(world.outside, 'other.db'), 'SELECT * FROM t'),
    );
    expect(refused).toBe(true);
    expect(text).not.toContain(secretText);
  });

  it('is answered with as many rows as fit, and the answer mentions that there are more', async () => {
    const numbers =
      'WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n LIMIT 100000) SELECT x FROM n';
    const { text } = await query(numbers);
    expect(text.length).toBeLessThan(40_000);
    expect(text).toMatch(/more|limit|truncated/i);
  });
});

describe.skipIf(!serverFolder())('a login of PostgreSQL that no transaction binds', () => {
  const world = makeWorld();
  const ada = person();
  let server: Server;
  let session: Session;
  const env = () => ({ ...server.env, PGDATABASE: 'postgres' });
  beforeAll(async () => {
    server = startServer('CREATE TABLE orders (id int); INSERT INTO orders VALUES (1), (2);');
    session = await world.open({ person: ada, env: env() });
  });
  afterAll(async () => {
    await world.end();
    server.stop();
  });
  const count = () => server.ask('SELECT count(*) FROM orders');

  it('is asked about once for reading, and a yes to reading never opens writing', async () => {
    ada.will(says.yes, says.no);
    expect(await session.gets(queryPostgres('SELECT count(*) FROM orders'))).toContain('2');
    expect(ada.asked[0]?.message).toMatch(
      /^It reads with a login that may also write\.\nYes allows all reading in postgres@/m,
    );
    await session.gets(queryPostgres('SELECT id FROM orders'));
    expect(ada.asked).toHaveLength(1);
    expect((await session.does(changePostgres('DELETE FROM orders'))).refused).toBe(true);
    expect(ada.asked).toHaveLength(2);
    expect(count()).toBe('2');
  });

  it('may write in this database alone once a person has said always to that', async () => {
    ada.will(says.always, says.no);
    await session.gets(changePostgres('DELETE FROM orders WHERE id = 1'));
    expect(ada.asked.map(lasting)[0]).toContain('writing in postgres@');
    await session.gets(changePostgres('DELETE FROM orders WHERE id = 2'));
    expect(count()).toBe('0');
    const other = await world.open({ person: ada, env: { ...env(), PGDATABASE: 'template1' } });
    expect((await other.does(changePostgres('CREATE TABLE x (a int)'))).refused).toBe(true);
  });

  it('is named by doctor', () => {
    world.configure({ databases: { shop: { engine: 'postgresql', urlFrom: 'SHOP_URL' } } });
    const address = (user: string) => `postgresql://${user}@localhost/postgres?host=${server.folder}`;
    const checked = (user: string) =>
      spawnSync(process.execPath, [program, 'doctor'], {
        env: { ...world.env, SHOP_URL: address(user) },
        encoding: 'utf8',
      }).stdout;
    server.ask('CREATE ROLE reader LOGIN');
    expect(checked('postgres')).toMatch(/note +database shop \(postgres@.*may act as a superuser/);
    expect(checked('reader')).toMatch(/ok +database shop \(reader@.*cannot change it/);
    expect(checked('nobody')).toMatch(/note +database shop \(nobody@.*: .*does not exist/);
  });
});
