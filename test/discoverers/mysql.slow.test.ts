import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openSession } from '../../src/machine/databases/mysql-session.ts';
import type { Settings } from '../../src/core/settings.ts';
import { thisHost } from '../../src/machine/host.ts';
import { sessionOf } from '../support/session.ts';
import { inSession, usualLimits } from '../../src/machine/databases/database-session.ts';
import { targetOf } from '../../src/machine/databases/target.ts';
import { callAction, planOf, saidBy } from '../support/call-action.ts';
import { until } from '../support/until.ts';
import { hasMariadb, type Server, startMariadb } from './mariadb-server.ts';
import { anyProgramOf } from './programs.ts';

const mysql = anyProgramOf('mysql');

const password = 'p@ss/wo:rd';

describe.skipIf(!hasMariadb())('mysql, against MariaDB (skipped where it is not installed)', () => {
  let server!: Server;
  let folder = '';
  const env = (more: Record<string, string> = {}) => ({
    HOME: folder,
    MYSQL_PWD: '',
    DATABASE_URL: `mysql://root@localhost/shop?socket=${encodeURIComponent(server.socket)}`,
    ...more,
  });
  const where = (more: Record<string, string> = {}) => ({ folder, env: env(more), program: '/usr/bin/true' });
  const call = (name: string, given: Record<string, unknown>, more: Record<string, string> = {}) =>
    callAction(mysql, name, given, where(more));
  const query = async (sql: string, more: Record<string, string> = {}) => {
    const result = await call('query', { sql, limit: 2 }, more);
    expect(result.isError, saidBy(result)).toBeUndefined();
    return result.data as { columns: string[]; rows: unknown[][]; more: boolean };
  };
  /** Straight to the server, with other limits than those of a call. */
  const querying = (limits: object, sql: string) => {
    const host = { ...thisHost(), env: env() };
    const known = sessionOf({ environment: { host }, settings: { databases: {} } as Settings });
    const target = targetOf('mysql', {}, known);
    const opened = { openSession, target, limits: { ...usualLimits, ...limits } };
    return inSession(opened, new AbortController().signal, (session) => session.query(sql, 1000));
  };

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'toolcrib-mysql-'));
    server = await startMariadb(`
      CREATE DATABASE shop; USE shop;
      CREATE TABLE orders(id BIGINT PRIMARY KEY, note TEXT, KEY notes (note(10))) ENGINE=InnoDB;
      INSERT INTO orders VALUES (9007199254740993, 'a<&>b'), (2, 'two\\nlines'), (3, NULL);
      CREATE TABLE lines_of(id INT, order_id BIGINT, CONSTRAINT of_order FOREIGN KEY (order_id) REFERENCES orders(id));
      CREATE VIEW big AS SELECT id FROM orders;
      CREATE TABLE kinds(d DECIMAL(20,2) UNSIGNED, f FLOAT, g DOUBLE, t TINYINT UNSIGNED, dt DATETIME(3), da DATE, ti TIME,
        y YEAR, b BLOB, bi BIT(9), e ENUM('x','y'), s SET('p','q'), j JSON, c CHAR(3), vb VARBINARY(4), bu BIGINT UNSIGNED);
      INSERT INTO kinds VALUES (123456789012345678.10, 1.1, 0.1, 255, '2024-01-02 03:04:05.678', '2024-01-02', '-12:00:00',
        2024, x'00ff', b'100000001', 'y', 'p,q', '{"a": 9007199254740993}', 'abc', x'01', 18446744073709551615);
      CREATE USER locked@localhost IDENTIFIED BY '${password}'; GRANT SELECT ON shop.* TO locked@localhost;`);
  });
  afterAll(() => server.stop());

  const told = async (name: string, given: object) => {
    const [first] = (await call(name, { ...given })).content ?? [];
    return first && 'text' in first ? first.text : '';
  };

  it('lists databases and tables, and describes', async () => {
    expect(await told('databases', {})).toContain('\nshop latin1');
    expect(await told('tables', {})).toMatch(
      /^4 tables\nshop.big view\nshop.kinds about \d+ rows\nshop.lines_of about 0 rows\nshop.orders about 3 rows$/,
    );
    expect(await told('describe', { table: 'orders' })).toBe(
      '2 columns\nid bigint(20) not null\nnote text = NULL\nindex notes (note)\nunique index PRIMARY (id)',
    );
    expect(await told('describe', { table: 'lines_of' })).toContain(
      '\nforeign key of_order (order_id) references orders(id)',
    );
    expect(await told('describe', { table: 'big' })).toMatch(/\nas select .*orders/);
    expect(await told('describe', { table: "x' OR '1'='1" })).toContain('NOT_FOUND');
  });

  it('returns rows, two columns of one name, and says that there are more', async () => {
    expect(await query('SELECT id, note, id FROM orders ORDER BY id DESC -- newest')).toEqual({
      columns: ['id', 'note', 'id'],
      rows: [
        ['9007199254740993', 'a<&>b', '9007199254740993'],
        [3, null, 3],
      ],
      more: true,
    });
    expect(await query('WITH one AS (SELECT count(*) AS a FROM orders) SELECT * FROM one;')).toMatchObject({
      rows: [[3]],
    });
    expect(await query('VALUES (1)')).toMatchObject({ rows: [[1]], more: false });
    expect(await query('SELECT seq FROM seq_1_to_1000000 LIMIT 90000')).toMatchObject({ more: true });
    expect(await query('SELECT 1 AS a FROM DUAL WHERE 1 = 0')).toMatchObject({ columns: ['a'], rows: [] });
  });

  it('reads every type', async () => {
    expect(
      (await query('SELECT * FROM kinds')).rows[0]?.map((value) => JSON.stringify(value)).join(' '),
    ).toBe(
      '"123456789012345678.10" 1.1 0.1 255 "2024-01-02 03:04:05.678" "2024-01-02" "-12:00:00" 2024 ' +
        String.raw`"\\x00ff" "\\x0101" "y" "p,q" {"a":"9007199254740993"} "abc" "\\x01" "18446744073709551615"`,
    );
  });

  it('answers what is no query and only reads: SHOW, DESCRIBE, EXPLAIN and ANALYZE of a query', async () => {
    expect(await query("SHOW VARIABLES LIKE 'version_comment'")).toMatchObject({
      rows: [['version_comment', expect.anything()]],
    });
    expect(await query('DESCRIBE orders')).toMatchObject({
      rows: [['id', 'bigint(20)', 'NO', 'PRI', null, ''], expect.anything()],
    });
    expect((await query('EXPLAIN SELECT * FROM orders')).columns).toContain('possible_keys');
    expect((await query('ANALYZE SELECT * FROM orders')).columns).toContain('r_rows');
    await query('SELECT 1');
    const tree = await query('EXPLAIN FORMAT=JSON SELECT * FROM orders ORDER BY id');
    expect(JSON.stringify(tree)).not.toMatch(/limit/i);
    for (const sql of [
      'EXPLAIN DELETE FROM orders',
      'ANALYZE DELETE FROM orders',
      'ANALYZE TABLE orders',
      'SHOW TABLES; COMMIT',
    ])
      expect((await call('query', { sql })).isError, sql).toBe(true);
  });

  it('changes what it is told to, and asks each time', async () => {
    const plan = await planOf(mysql, 'execute', { sql: 'DROP TABLE orders' }, where());
    expect(plan).toMatchObject({
      approval: 'database',
      grant: { words: `writing in root@${server.socket}:3306/shop` },
    });
    expect(await told('execute', { sql: 'CREATE TABLE made(a INT)' })).toBe('0 rows changed');
    expect(await told('execute', { sql: 'INSERT INTO made VALUES (1), (2)' })).toBe('2 rows changed');
    expect(await told('execute', { sql: 'DELETE FROM made RETURNING a' })).toContain('2 rows\na\n1\n2');
    expect(await told('execute', { sql: 'DELETE FROM made; DROP TABLE made' })).toContain('PROGRAM_FAILED');
    expect(await query('SELECT count(*) FROM made')).toMatchObject({ rows: [[0]] });
    expect(await told('execute', { sql: 'DROP TABLE made' })).toBe('0 rows changed');
  });

  /** What the server does for others than who asks. */
  const running = async () => {
    const { rows } = await query(
      "SELECT id FROM information_schema.processlist WHERE info LIKE '%sleep(1000%' AND info NOT LIKE '%processlist%'",
    );
    return rows.length;
  };

  it.each([
    ['SELECT sleep(1000)', 'max_statement_time exceeded'],
    // The server stops this one with a result.
    ["SELECT benchmark(1000000000000, md5('a')) AS n", 'the time of a query is over'],
  ])('ATTACK 85: the server ends %s', async (sql, says) => {
    await expect(querying({ statementMs: 100 }, sql)).rejects.toThrow(says);
  });

  it('ATTACK 85: reads no more than the limit of bytes of an answer', async () => {
    const sql = "SELECT repeat('z', 1000) FROM seq_1_to_1000000";
    await expect(querying({ bytes: 100_000 }, sql)).rejects.toThrow('larger than the 100000 bytes');
  });

  it('ATTACK 85: cancels on the server when the caller gives up', async () => {
    const controller = new AbortController();
    const slow = callAction(
      mysql,
      'query',
      { sql: 'SELECT sleep(1000)' },
      { ...where(), context: { signal: controller.signal } },
    );
    await until(async () => (await running()) === 1);
    controller.abort();
    expect(saidBy(await slow)).toContain('CANCELLED');
    await until(async () => (await running()) === 0);
  });

  it('connects by a profile and variables, and says that ~/.my.cnf is not read', async () => {
    const who = 'SELECT current_user()';
    writeFileSync(join(folder, '.my.cnf'), '[client]\nuser=root\n');
    const url = `mysql://nobody@x?socket=${server.socket}`;
    expect(saidBy(await call('query', { sql: who }, { DATABASE_URL: url }))).toContain(
      '~/.my.cnf is not read',
    );
    rmSync(join(folder, '.my.cnf'));
    const profiles = {
      mine: {
        engine: 'mysql',
        url: `mariadb://locked:${encodeURIComponent(password)}@x?socket=${server.socket}`,
      },
    } as const;
    const { data } = await callAction(
      mysql,
      'query',
      { sql: who, profile: 'mine' },
      { ...where(), profiles },
    );
    expect(data).toMatchObject({ rows: [['locked@localhost']] });
    const result = await call('query', { sql: who }, { DATABASE_URL: '', MYSQL_UNIX_PORT: '/nowhere/s' });
    expect(saidBy(result)).toContain('Is the server running?');
  });

  it('ATTACK 84: shows a password in no result, error or question', async () => {
    const wrong = 's3cret/of:mine';
    const url = `mysql://locked:${encodeURIComponent(wrong)}@x/${encodeURIComponent(wrong)}?socket=${server.socket}`;
    const place = where({ DATABASE_URL: url });
    const given = { sql: 'SELECT 1' };
    const result = await callAction(mysql, 'query', given, place);
    const { subject, preview, fingerprint } = await planOf(mysql, 'tables', {}, place);
    const said = saidBy(result) + subject + preview + fingerprint;
    expect(said).toContain('Access denied');
    for (const secret of [wrong, encodeURIComponent(wrong)]) expect(said).not.toContain(secret);
  });

  it('dumps to a new file', async () => {
    const given = { database: 'shop', path: 'shop.sql', table: 'orders' };
    const dumped = await callAction(mysql, 'dump', given, { folder, env: env() });
    expect(dumped.isError, saidBy(dumped)).toBeUndefined();
    expect(readFileSync(join(folder, 'shop.sql'), 'utf8')).toContain('9007199254740993');
    const hostile = { ...given, path: 'x.sql', table: '--result-file=ran' };
    const refused = await callAction(mysql, 'dump', hostile, { folder, env: env() });
    expect(saidBy(refused)).toContain('would be read as an option');
    expect(existsSync(join(folder, 'ran'))).toBe(false);
  });
});
