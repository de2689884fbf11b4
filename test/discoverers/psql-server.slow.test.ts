import { existsSync, mkdtempSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { openSession } from '../../src/machine/databases/postgres-session.ts';
import type { Settings } from '../../src/core/settings.ts';
import { thisHost } from '../../src/machine/host.ts';
import { sessionOf } from '../support/session.ts';
import { inSession, usualLimits } from '../../src/machine/databases/database-session.ts';
import { targetOf } from '../../src/machine/databases/target.ts';
import { callAction, planOf, saidBy } from '../support/call-action.ts';
import { until } from '../support/until.ts';
import { type Server, serverFolder, startServer } from './postgres-server.ts';
import { anyProgramOf } from './programs.ts';

const psql = anyProgramOf('psql');

const password = 'p@ss/wo:rd';

describe.skipIf(!serverFolder())('psql, against PostgreSQL (skipped where it is not installed)', () => {
  let server!: Server;
  let folder = '';
  const env = (more: Record<string, string> = {}) => ({
    ...server.env,
    HOME: folder,
    DATABASE_URL: '',
    PGDATABASE: 'postgres',
    ...more,
  });
  const call = (name: string, given: Record<string, unknown>, more: Record<string, string> = {}) =>
    callAction(psql, name, given, { folder, env: env(more), program: '/usr/bin/true' });
  const query = async (sql: string, more: Record<string, string> = {}) => {
    const result = await call('query', { sql, limit: 2 }, more);
    expect(result.isError, saidBy(result)).toBeUndefined();
    return result.data as { columns: string[]; rows: unknown[][]; more: boolean };
  };
  const failing = async (sql: string, more: Record<string, string> = {}) => {
    const result = await call('query', { sql }, more);
    expect(result.isError, saidBy(result)).toBe(true);
    return saidBy(result);
  };

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'toolcrib-psql-'));
    server = startServer(`
      CREATE TABLE orders(id bigint PRIMARY KEY, note text);
      INSERT INTO orders VALUES (9007199254740993, 'a<&>b'), (2, E'two\\nlines'), (3, NULL);
      CREATE SCHEMA "Odd"; CREATE TABLE "Odd"."My Table"(a int);
      CREATE VIEW big AS SELECT id FROM orders;
      CREATE ROLE reader LOGIN; GRANT SELECT ON orders TO reader;
      CREATE ROLE locked LOGIN PASSWORD '${password}'; GRANT SELECT ON orders TO locked;`);
  });
  afterAll(() => server.stop());

  it('takes the address of a trusted project at once when it is of this machine, says so, and asks about others', async () => {
    const project = mkdtempSync(join(tmpdir(), 'toolcrib-psql-'));
    const at = (address: string) =>
      writeFileSync(join(project, '.env'), `# ours\nexport DB_URL="${address}"\n`);
    const { PGHOST = '', PGPORT = '', PGUSER = '' } = server.env;
    const none = { PGHOST: undefined as never, DATABASE_URL: undefined as never };
    const place = {
      folder: project,
      env: { ...env(), ...none, PGPASSWORD: 'secret' },
      program: '/usr/bin/true',
    };
    const given = { sql: 'SELECT 1 AS one' };
    const ours = `postgresql://${PGUSER}@localhost:${PGPORT}/postgres?host=${encodeURIComponent(PGHOST)}`;
    at(ours);
    const untrusted = await planOf(psql, 'query', given, place);
    expect(untrusted.trust).toContain('connects to');
    const said = saidBy(await callAction(psql, 'query', given, { ...place, trusted: true }));
    expect(said).toMatch(/^1 row\none\n1\n\[postgres at .*\.env\)\]$/);
    at('postgresql://ada:hush@db.example.org/shop');
    const foreign = await planOf(psql, 'query', given, { ...place, trusted: true });
    expect(foreign).toMatchObject({
      approval: 'database',
      grant: { words: 'reading in ada@db.example.org:5432/shop' },
    });
    expect(JSON.stringify(foreign.preview)).not.toContain('hush');
  });

  const told = async (name: string, given: object, more: Record<string, string> = {}) => {
    const [first] = (await call(name, { ...given }, more)).content ?? [];
    return first && 'text' in first ? first.text : '';
  };

  it('lists databases and tables, and describes', async () => {
    expect(await told('databases', {})).toMatch(/^1 database\npostgres postgres, \d+ kB$/);
    expect(await told('tables', { schema: 'public' })).toBe(
      '2 tables\npublic.big (id) view\npublic.orders (id, note)',
    );
    expect(await told('tables', { schema: "x' OR 'a'='a" })).toBe('no tables');
    expect(await told('describe', { table: 'orders' })).toBe(
      '2 columns\nid bigint not null\nnote text\n' +
        'CREATE UNIQUE INDEX orders_pkey ON public.orders USING btree (id)\norders_pkey PRIMARY KEY (id)',
    );
    expect(await told('describe', { table: '"Odd"."My Table"' })).toBe('1 columns\na integer');
    expect(await told('describe', { table: 'big' })).toMatch(
      /id bigint\nas +SELECT orders.id\n +FROM orders;/,
    );
    expect(await told('describe', { table: 'nothing' })).toContain('relation "nothing" does not exist');
    expect(await told('describe', { table: "x'::regclass; --" })).toContain('PROGRAM_FAILED');
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
    expect(await query("VALUES (1, E'two\\nlines', $$it's;$$);")).toMatchObject({
      rows: [[1, 'two\nlines', "it's;"]],
      more: false,
    });
    expect(await query('TABLE orders')).toMatchObject({ more: true });
    expect(await query('SELECT count(*) AS n FROM orders')).toMatchObject({ columns: ['n'], rows: [[3]] });
    expect(await query('SELECT 1 AS a WHERE false')).toMatchObject({ columns: ['a'], rows: [] });
  });

  it('answers what is no query and only reads: SHOW, EXPLAIN ANALYZE', async () => {
    expect(await query('SHOW transaction_read_only')).toMatchObject({ rows: [['on']] });
    const { rows, more } = await query('EXPLAIN (ANALYZE, COSTS OFF) SELECT * FROM orders ORDER BY id');
    expect([rows.length, more, String(rows[0])]).toEqual([2, true, expect.stringContaining('actual time')]);
    await told('execute', {
      sql: 'CREATE TABLE wide AS SELECT i AS id FROM generate_series(1, 500000) i; ANALYZE wide',
    });
    // That of a cursor would have no second process.
    const own = await told('query', { sql: 'EXPLAIN SELECT count(*) FROM wide WHERE sqrt(id) > 3' });
    await told('execute', { sql: 'DROP TABLE wide' });
    expect(own).toMatch(/^\d rows\nQUERY PLAN\nFinalize Aggregate[^]*Parallel Seq Scan on wide/);
    expect(own).not.toMatch(/limit|cursor/i);
    for (const sql of ['EXPLAIN CREATE TABLE made AS SELECT 1', 'EXPLAIN ANALYZE SELECT 1 INTO made'])
      expect(await failing(sql), sql).toMatch(/syntax error|INTO/);
    expect(await failing('EXPLAIN ANALYZE DELETE FROM orders')).toContain('syntax error');
    expect(await failing('SHOW server_version; COMMIT')).toContain('multiple commands');
  });

  it('changes what it is told to, all of it or nothing, and asks each time', async () => {
    const sql = 'CREATE TABLE made(a int); INSERT INTO made VALUES (1), (2) RETURNING a';
    const place = { folder, env: env(), program: '/usr/bin/true' };
    const database = `${server.env['PGUSER']}@${server.folder}:5432/postgres`;
    expect(await planOf(psql, 'execute', { sql }, place)).toMatchObject({
      effects: ['write', 'network', 'destroy'],
      subject: sql,
      approval: 'database',
      grant: { words: `writing in ${database}` },
    });
    expect(await told('execute', { sql })).toBe('2 rows changed\n2 rows\na\n1\n2');
    expect(await told('execute', { sql: 'DELETE FROM made; DELETE FROM nothing' })).toContain(
      'does not exist',
    );
    expect(await query('SELECT count(*) FROM made')).toMatchObject({ rows: [[2]] });
    expect(await told('execute', { sql: 'DROP TABLE made' })).toBe('0 rows changed');
  });

  it.each([
    ["'1.10'::numeric(10,2)", '1.10'],
    ['0.1::float8', 0.1],
    ['1.1::real', 1.1],
    ["'NaN'::float8", 'NaN'],
    ['true', true],
    ["'2024-01-02 03:04:05.123456'::timestamp", '2024-01-02 03:04:05.123456'],
    ["'infinity'::date", 'infinity'],
    ["'1 day 2 hours'::interval", '1 day 02:00:00'],
    ['\'{"a": 9007199254740993, "b": [1, null]}\'::jsonb', { a: '9007199254740993', b: [1, null] }],
    ["'[1.5]'::json", [1.5]],
    ["'null'::json", null],
    ["'\\x00ff'::bytea", '\\x00ff'],
    ["ARRAY['a','b \"c\"',NULL]", '{a,"b \\"c\\"",NULL}'],
    ["'(1,1),(0,0)'::box", '(1,1),(0,0)'],
    ['NULL::int', null],
  ])('reads the value of %s', async (expression, value) => {
    expect(await query(`SELECT ${expression} AS a`)).toMatchObject({ rows: [[value]] });
  });

  it('cuts long values, bytes and rows', async () => {
    const [[text, bytes]] = (await query("SELECT repeat('x', 100000), decode(repeat('00', 1000), 'hex')"))
      .rows as [[string, string]];
    expect(text).toMatch(/^x{8000}… \[92000 more characters\]$/);
    expect(bytes).toMatch(/^\\x(00){256}… \[1488 more characters\]$/);
    const one = { folder, env: env(), program: '/usr/bin/true' };
    const many = { sql: "SELECT repeat('y', 3000) FROM generate_series(1, 1000)", limit: 1000 };
    const kept: string[] = [];
    const result = await callAction(psql, 'query', many, {
      ...one,
      context: {
        keepOutput: () => ({
          handle: 'out_1',
          add: (_stream, chunk) => kept.push(String(chunk)),
          end: () => {},
        }),
      },
    });
    expect(saidBy({ content: result.content ?? [] })).toContain('read_output id=out_1 has all of it');
    expect(kept.join('')).toHaveLength('1000 rows\nrepeat'.length + 1000 * 3001);
  });

  /** Straight to the server, with other limits than those of a call. */
  const querying = (limits: object, sql: string, most = 1000) => {
    const host = { ...thisHost(), env: env() };
    const known = sessionOf({ environment: { host }, settings: { databases: {} } as Settings });
    const target = targetOf('postgresql', {}, known);
    const opened = { openSession, target, limits: { ...usualLimits, ...limits } };
    return inSession(opened, new AbortController().signal, (session) => session.query(sql, most));
  };

  it('ATTACK 85: reads no more than the limit of bytes of an answer, and the server goes on to nothing', async () => {
    for (const sql of [
      "SELECT repeat('z', 1000) FROM generate_series(1, 5000)",
      "SELECT repeat('z', 100000000)",
    ]) {
      await expect(querying({ bytes: 100_000 }, sql)).rejects.toThrow('larger than the 100000 bytes');
    }
    await until(() => activity() === 0);
  });

  /** What the server does for us. */
  const activity = (where = '') =>
    Number(server.ask(`SELECT count(*) FROM pg_stat_activity WHERE application_name = 'toolcrib' ${where}`));

  it('ATTACK 85: the server ends what takes too long', async () => {
    await expect(querying({ statementMs: 100 }, 'SELECT pg_sleep(1000)')).rejects.toThrow(
      'statement timeout',
    );
  });

  it('explains without running', async () => {
    expect(await told('query', { sql: 'EXPLAIN SELECT * FROM orders WHERE id = 2' })).toContain('Scan');
    expect((await call('query', { sql: 'EXPLAIN SELECT pg_sleep(1000)' })).isError).toBeUndefined();
  });

  it('says what the server says', async () => {
    expect(await failing('SELECT nothing FROM orders')).toMatch(/column "nothing" does not exist \(42703\)/);
  });

  it('connects by a profile, DATABASE_URL, the variables and ~/.pgpass', async () => {
    const url = `postgresql://locked:${encodeURIComponent(password)}@${encodeURIComponent(server.folder)}/postgres`;
    const who = 'SELECT current_user';
    expect((await query(who, { DATABASE_URL: url, PGHOST: '/nowhere' })).rows).toEqual([['locked']]);
    const profiles = {
      shop: { engine: 'postgresql', urlFrom: 'SHOP_URL' },
      other: { engine: 'mysql', url: 'mysql://x' },
    } as const;
    const where = { folder, env: env({ SHOP_URL: url }), program: '/usr/bin/true', profiles };
    expect((await callAction(psql, 'query', { sql: who, profile: 'shop' }, where)).data).toMatchObject({
      rows: [['locked']],
    });
    expect(saidBy(await callAction(psql, 'query', { sql: who, profile: 'other' }, where))).toContain(
      'ARG_INVALID: profile: "other" is no postgresql database of the settings. There is shop.',
    );
    expect(await failing(who, { PGSERVICE: 'mine' })).toContain('CONFIG_INVALID: PGSERVICE');
    writeFileSync(
      join(folder, '.pgpass'),
      `# mine\n*:*:*:locked:${password.replaceAll(/[\\:]/g, '\\$&')}\n`,
      {
        mode: 0o600,
      },
    );
    // The driver's own way to a password knows no other environment than the server's.
    vi.stubEnv('PGPASSFILE', join(folder, '.pgpass'));
    expect((await query(who, { PGUSER: 'locked' })).rows).toEqual([['locked']]);
    const more = { folder, env: env({ PGUSER: 'locked' }) };
    const dumped = await callAction(psql, 'dump', { path: 'locked.sql', plain: true, table: 'orders' }, more);
    expect(dumped.isError, saidBy(dumped)).toBeUndefined();
    vi.unstubAllEnvs();
  });

  it('ATTACK 84: shows a password in no result, error or question', async () => {
    const wrong = 's3cret/of:mine';
    const url = `postgresql://locked:${encodeURIComponent(wrong)}@${encodeURIComponent(server.folder)}/postgres`;
    const place = { folder, env: env({ DATABASE_URL: url }), program: '/usr/bin/true' };
    const given = { sql: 'SELECT 1' };
    const { subject, preview, fingerprint } = await planOf(psql, 'tables', {}, place);
    const said = saidBy(await callAction(psql, 'query', given, place)) + subject + preview + fingerprint;
    expect(said).toContain('password authentication failed');
    for (const secret of [wrong, encodeURIComponent(wrong), url]) expect(said).not.toContain(secret);
    const named = await failing('SELECT 1', { DATABASE_URL: `${url}${wrong}?sslmode=disable` });
    for (const secret of [wrong, encodeURIComponent(wrong)]) expect(named).not.toContain(secret);
    const broken = await failing('SELECT 1', {
      DATABASE_URL: `postgresql://locked:${wrong}%@nowhere:port/x`,
    });
    expect(broken).toContain('CONFIG_INVALID: DATABASE_URL: is not the address');
    expect(broken).not.toContain(wrong);
    expect(await failing('SELECT 1', { PGUSER: 'locked' })).toContain(
      'asks for a password, and none is known',
    );
    expect(await failing('SELECT 1', { PGHOST: '/nowhere' })).toContain('Is the server running?');
  });

  it('dumps to a new file for its owner alone', async () => {
    const more = { folder, env: env() };
    const dumped = await callAction(psql, 'dump', { path: 'shop.dump' }, more);
    expect(saidBy(dumped)).toMatch(/bytes in/);
    expect(statSync(join(folder, 'shop.dump')).mode & 0o777).toBe(0o600);
    expect(readFileSync(join(folder, 'shop.dump'), 'latin1')).toMatch(/^PGDMP/);
    expect(saidBy(await callAction(psql, 'dump', { path: 'shop.dump' }, more))).toContain('PATH_EXISTS');
    expect(saidBy(await callAction(psql, 'dump', { path: '../x' }, more))).toContain('PATH_OUTSIDE_ROOTS');
    const nothing = await callAction(psql, 'dump', { path: 'no.dump', database: 'nothing' }, more);
    expect(saidBy(nothing)).toContain('PROGRAM_FAILED');
    expect(existsSync(join(folder, 'no.dump'))).toBe(false);
  });
});
