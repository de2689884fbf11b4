import { existsSync, mkdtempSync, readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { AnyProgram } from '../../src/core/database-program.ts';
import { hasMariadb, startMariadb, type Server as MariaServer } from '../discoverers/mariadb-server.ts';
import { type Server, serverFolder, startServer } from '../discoverers/postgres-server.ts';
import { anyProgramOf } from '../discoverers/programs.ts';
import { callAction, planOf, runPlan, saidBy } from '../support/call-action.ts';
import { connect, eras, inherited, initialize, startRaw } from '../support/server.ts';
import { textOf } from '../support/text-of.ts';
import { until } from '../support/until.ts';

const [mysql, psql] = [anyProgramOf('mysql'), anyProgramOf('psql')];

/** The error of a call that has to fail; its parameters may be refused before. */
const failing = async (
  of: AnyProgram,
  name: string,
  sql: string,
  place: { folder: string; env: Record<string, string> },
) => {
  const result = await callAction(of, name, { sql }, { ...place, program: '/usr/bin/true' }).catch(
    (error: unknown) => ({ isError: true, content: [{ type: 'text' as const, text: String(error) }] }),
  );
  expect(result.isError, saidBy(result)).toBe(true);
  return saidBy(result);
};

describe.skipIf(!serverFolder())('databases: PostgreSQL (skipped where it is not installed)', () => {
  let server!: Server;
  let folder = '';
  let before = '';
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'toolcrib-attacks-'));
    server = startServer(`
      CREATE ROLE owner LOGIN; CREATE ROLE killer LOGIN IN ROLE pg_signal_backend; CREATE ROLE heir LOGIN IN ROLE killer;
      CREATE ROLE watcher LOGIN IN ROLE pg_monitor, pg_read_all_data; GRANT CREATE ON SCHEMA public TO owner; SET ROLE owner;
      CREATE TABLE orders(id int PRIMARY KEY, note text); INSERT INTO orders VALUES (1), (2), (3); CREATE SEQUENCE seq;
      CREATE FUNCTION drop_orders() RETURNS int LANGUAGE plpgsql AS $$ BEGIN DELETE FROM orders; RETURN 1; END $$;
      CREATE FUNCTION lies() RETURNS int IMMUTABLE LANGUAGE plpgsql AS $$ BEGIN DELETE FROM orders; RETURN 1; END $$;
      CREATE FUNCTION run(t text) RETURNS int LANGUAGE plpgsql AS $$ BEGIN EXECUTE t; RETURN 1; END $$;`);
    before = state();
  });
  afterAll(() => server.stop());

  const as = (user: string) => ({
    folder,
    env: { PGHOST: server.folder, PGUSER: user, PGDATABASE: 'postgres', DATABASE_URL: '', HOME: folder },
  });
  const program = "COPY (SELECT 1) TO PROGRAM 'touch ran'";
  const state = () =>
    server.ask(
      "SELECT count(*), (SELECT last_value FROM seq), (SELECT count(*) FROM pg_largeobject_metadata), (SELECT count(*) FROM pg_class WHERE relname IN ('copied', 'x')) FROM orders",
    );

  const attacks: [row: number, sql: string][] = [
    [73, '\\! touch ran'],
    [73, 'SELECT 1 \\! touch ran'],
    [74, "\\copy (SELECT 1) to program 'touch ran'"],
    [74, 'SELECT 1 \\g |touch ran'],
    [75, program],
    [75, `DO $$ BEGIN ${program}; END $$`],
    [75, `WITH a AS (${program}) SELECT 1`],
    [75, `SELECT run($x$${program}$x$)`],
    [75, "CREATE FUNCTION f() RETURNS int LANGUAGE sql AS 'SELECT 1'"],
    [75, 'SELECT drop_orders()'],
    [75, 'SELECT lies()'],
    [75, "SELECT pg_read_file('/etc/passwd')"],
    [75, 'SELECT U&"pg\\005fread\\005ffile"(\'/etc/passwd\')'],
    [75, "SELECT lo_export(1, '/tmp/x')"],
    [75, "SELECT lo_import('/etc/passwd')"],
    [77, 'SET transaction_read_only = off'],
    [77, 'BEGIN READ WRITE; DELETE FROM orders; COMMIT'],
    [77, 'COMMIT; DROP TABLE orders'],
    [77, 'SELECT 1; -- \n DROP TABLE orders'],
    [77, 'SELECT 1 /* ; */; /* */ DELETE FROM orders'],
    [77, "SELECT set_config('transaction_read_only', 'off', false), drop_orders()"],
    [77, "SELECT run('COMMIT')"],
    [77, 'RESET ROLE'],
    [77, 'ROLLBACK'],
    [77, 'PREPARE x AS DELETE FROM orders'],
    [77, "SELECT nextval('seq')"],
    [79, 'WITH gone AS (DELETE FROM orders RETURNING *) SELECT * FROM gone'],
    [79, '-- x\nDELETE FROM orders'],
    [79, 'EXPLAIN ANALYZE DELETE FROM orders'],
    [79, 'EXPLAIN ANALYZE SELECT drop_orders()'],
    [77, 'SHOW search_path; COMMIT; DROP TABLE orders'],
    [77, 'EXPLAIN SELECT 1; COMMIT; DROP TABLE orders'],
    [79, 'SELECT * INTO copied FROM orders'],
    [79, 'SELECT * FROM orders FOR UPDATE'],
    [79, 'TRUNCATE orders'],
    [79, 'SELECT \'a\'::text COLLATE "C"; DELETE FROM orders'],
  ];
  it.each(attacks)('ATTACK %i: %s changes nothing', async (_row, sql) => {
    await failing(psql, 'query', sql, as('owner'));
    expect(state()).toEqual(before);
    for (const place of [server.folder, join(server.folder, 'data')])
      expect(existsSync(join(place, 'ran'))).toBe(false);
  });

  // A lower role would be of no use: SELECT set_config('role', 'none', true) takes the higher one again.
  it.each([
    ['postgres', 'may act as a superuser'],
    ['killer', 'may act as pg_signal_backend'],
    ['heir', 'may act as pg_signal_backend'],
  ])('ATTACK 75: asks about any query of %s, which no transaction binds', async (user, why) => {
    const plan = await planOf(psql, 'query', { sql: 'SELECT 1' }, as(user));
    const database = `${user}@${server.folder}:5432/postgres`;
    expect(plan).toMatchObject({ approval: 'database', grant: { words: `reading in ${database}` } });
    expect(plan.preview).toContain(why);
    expect(plan.preview).toContain('GRANT pg_read_all_data TO reader');
    expect(await planOf(psql, 'tables', {}, as(user))).not.toHaveProperty('approval');
  });

  it.each(['owner', 'watcher'])(
    'asks nothing about a query of %s, which the transaction binds',
    async (user) => {
      expect(await planOf(psql, 'query', { sql: 'SELECT 1' }, as(user))).not.toHaveProperty('approval');
    },
  );

  it('ATTACK 75: runs nothing when the login may more than when it was planned', async () => {
    const plan = await planOf(psql, 'query', { sql: 'SELECT 1' }, as('owner'));
    server.ask('GRANT pg_execute_server_program TO owner');
    const result = runPlan(psql, 'query', plan, as('owner'));
    await expect(result).rejects.toThrow('what the login may do has changed');
    server.ask('REVOKE pg_execute_server_program FROM owner');
  });

  it('ATTACK 75: over MCP, a query of a superuser is not run where nobody can be asked', async () => {
    const client = await connect(eras[0]!, options('postgres'));
    try {
      const sql = "SELECT pg_read_file('/etc/passwd')";
      const result = await client.callTool({ name: 'psql_query', arguments: { sql } });
      expect(textOf(result)).toMatch(
        /NEEDS_CONFIRM.*login that may also write.*GRANT pg_read_all_data TO reader/,
      );
    } finally {
      await client.close();
    }
  });

  it.each([
    'ANALYZE DELETE FROM orders',
    '(ANALYZE) DELETE FROM orders',
    'DELETE FROM orders',
    'SELECT lies()',
    'SELECT 1; DROP TABLE orders',
    'EXPLAIN ANALYZE DELETE FROM orders',
    'CREATE TABLE copied AS SELECT 1',
  ])('ATTACK 79: explaining %s changes nothing', async (sql) => {
    await failing(psql, 'query', `EXPLAIN ${sql}`, as('owner'));
    expect(state()).toEqual(before);
  });

  const slow = { name: 'psql_query', arguments: { sql: 'SELECT pg_sleep(1000)' } };
  const options = (user = 'owner') => ({
    roots: [folder],
    env: {
      ...inherited(),
      ...as(user).env,
      XDG_STATE_HOME: folder,
    },
  });
  const sleeping = () =>
    Number(
      server.ask(
        "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'toolcrib' AND state = 'active'",
      ),
    );

  it.each(eras)(
    'ATTACK 77, 79, 85: over MCP %s, and a call that is cancelled is cancelled on the server',
    async (era) => {
      const client = await connect(era, options());
      try {
        for (const sql of [
          'COMMIT; DROP TABLE orders',
          'WITH d AS (DELETE FROM orders RETURNING 1) TABLE d',
          program,
        ]) {
          const result = await client.callTool({ name: 'psql_query', arguments: { sql } });
          expect(result.isError, textOf(result)).toBe(true);
        }
        const count = { name: 'psql_query', arguments: { sql: 'SELECT count(*) FROM orders' } };
        expect(textOf(await client.callTool(count))).toBe('1 row\ncount\n3');
        const controller = new AbortController();
        const call = client.callTool(slow, { signal: controller.signal }).catch(() => {});
        await until(() => sleeping() === 1);
        controller.abort();
        await call;
        await until(() => sleeping() === 0);
      } finally {
        await client.close();
      }
    },
  );

  it('ATTACK 85: a query ends when the whole server that asked for it is killed', async () => {
    const raw = startRaw(options());
    await initialize(raw);
    raw.send({ id: 2, method: 'tools/call', params: slow });
    await until(() => sleeping() === 1);
    raw.child.kill('SIGKILL');
    await raw.ended;
    await until(() => sleeping() === 0);
  });

  it('ATTACK 84: no password is in the arguments of a program', async () => {
    const url = `postgresql://owner:s3cret@${encodeURIComponent(server.folder)}/postgres`;
    const place = { folder, env: { DATABASE_URL: url, HOME: folder } };
    const given = { path: 'a.dump', table: 'orders' };
    const { work: _work, ...shown } = await planOf(psql, 'dump', given, place);
    const result = await callAction(psql, 'dump', given, place);
    expect(result.isError, saidBy(result)).toBeUndefined();
    expect(JSON.stringify([shown, result])).not.toContain('s3cret');
  });
});

describe.skipIf(!hasMariadb())('databases: MariaDB (skipped where it is not installed)', () => {
  let server!: MariaServer;
  let folder = '';
  let before = '';
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'toolcrib-attacks-'));
    server = await startMariadb(`
      CREATE DATABASE shop; USE shop;
      CREATE TABLE orders(id INT PRIMARY KEY) ENGINE=InnoDB; INSERT INTO orders VALUES (1), (2), (3);
      CREATE TABLE old(id INT) ENGINE=MyISAM; INSERT INTO old VALUES (1), (2), (3);
      CREATE SEQUENCE seq;
      CREATE USER plain; GRANT ALL ON shop.* TO plain; CREATE ROLE files; GRANT FILE ON *.* TO files;
      CREATE USER filer; GRANT SELECT ON shop.* TO filer; GRANT files TO filer; SET DEFAULT ROLE files FOR filer;
      CREATE PROCEDURE gone() DELETE FROM orders;
      DELIMITER //
      CREATE FUNCTION drop_orders() RETURNS INT BEGIN DELETE FROM orders; RETURN 1; END//
      CREATE FUNCTION drop_old() RETURNS INT BEGIN DELETE FROM old; RETURN 1; END//
      DELIMITER ;`);
    before = server.ask(state);
  });
  afterAll(() => server.stop());
  const as = (user: string) => ({
    folder,
    env: {
      DATABASE_URL: `mysql://${user}@x/shop?socket=${encodeURIComponent(server.socket)}`,
      HOME: folder,
    },
  });
  const state =
    "SELECT (SELECT count(*) FROM shop.orders), (SELECT count(*) FROM shop.old), (SELECT group_concat(table_name, create_time ORDER BY 1) FROM information_schema.tables WHERE table_schema = 'shop'), (SELECT next_not_cached_value FROM shop.seq), @@GLOBAL.max_connections";
  const into = () => join(server.folder, 'files', 'ran');

  const attacks: [row: number, sql: string][] = [
    [80, '\\! touch ran'],
    [80, 'system touch ran'],
    [80, "LOAD DATA LOCAL INFILE '/etc/passwd' INTO TABLE old"],
    [80, "LOAD DATA INFILE '/etc/passwd' INTO TABLE old"],
    [80, "SELECT 1 INTO OUTFILE 'FILE'"],
    [80, "SELECT 1 INTO DUMPFILE 'FILE'"],
    [80, "SELECT 1 UNION SELECT 2 INTO OUTFILE 'FILE'"],
    [80, "SELECT 1 /*!50000 INTO OUTFILE 'FILE' */"],
    [80, "SELECT 1) INTO OUTFILE 'FILE' -- "],
    [80, "SELECT 1) OR EXISTS (SELECT 1 INTO OUTFILE 'FILE'"],
    [80, 'SELECT 1 INTO @a'],
    [80, 'SELECT 1 PROCEDURE ANALYSE()'],
    [77, 'SET SESSION TRANSACTION READ WRITE'],
    [77, 'SET GLOBAL max_connections = 7'],
    [77, 'COMMIT; DROP TABLE orders'],
    [77, 'SET STATEMENT max_statement_time = 0 FOR SELECT 1'],
    [77, "EXECUTE IMMEDIATE 'DROP TABLE orders'"],
    [77, 'BEGIN NOT ATOMIC DELETE FROM orders; END'],
    [79, 'DELETE FROM orders'],
    [79, '/* x */ DELETE FROM orders'],
    [79, '/*!50000 DELETE FROM orders */'],
    [79, 'DELETE FROM orders RETURNING id'],
    [79, 'INSERT INTO orders VALUES (9) RETURNING id'],
    [79, 'ANALYZE DELETE FROM orders'],
    [79, 'EXPLAIN EXTENDED DELETE FROM orders'],
    [79, 'ANALYZE SELECT drop_orders()'],
    [79, 'SHOW TABLES; DROP TABLE orders'],
    [80, "ANALYZE SELECT 1 INTO OUTFILE 'FILE'"],
    [79, 'CALL gone()'],
    [79, 'SELECT drop_orders()'],
    [79, 'SELECT drop_old()'],
    [79, 'SELECT NEXTVAL(seq)'],
    [79, 'SELECT * FROM orders FOR UPDATE'],
    // What ends a transaction by itself does not ask whether it may write.
    [79, 'TRUNCATE TABLE orders'],
    [79, 'OPTIMIZE TABLE orders'],
    [79, 'REPAIR TABLE old'],
    [79, 'CREATE TABLE copied AS SELECT 1'],
    [79, 'CREATE OR REPLACE TABLE orders AS SELECT 1 AS a'],
    [79, 'FLUSH TABLES'],
    [79, 'LOCK TABLES orders WRITE'],
    [79, 'HANDLER orders OPEN'],
    [79, 'KILL 1'],
  ];
  it.each(attacks)('ATTACK %i: %s changes nothing', async (_row, sql) => {
    for (const user of ['root', 'plain'])
      for (const explain of ['', 'EXPLAIN '])
        await failing(mysql, 'query', explain + sql.replace('FILE', into()), as(user));
    expect(server.ask(state)).toEqual(before);
    expect(readdirSync(join(server.folder, 'files'))).toEqual([]);
  });

  it.each(['root', 'filer'])('ATTACK 80: asks about any query of %s, who may use files', async (user) => {
    const plan = await planOf(mysql, 'query', { sql: 'SELECT 1' }, as(user));
    expect(plan).toMatchObject({
      approval: 'database',
      grant: { words: `reading in ${user}@${server.socket}:3306/shop` },
    });
    expect(plan.preview).toContain('files of the server (FILE)');
    expect(await planOf(mysql, 'query', { sql: 'SELECT 1' }, as('plain'))).not.toHaveProperty('approval');
  });

  it.each(eras)('ATTACK 79, 80: over MCP %s', async (era) => {
    const client = await connect(era, {
      roots: [folder],
      env: { ...inherited(), ...as('plain').env, XDG_STATE_HOME: folder },
    });
    try {
      for (const sql of ['TRUNCATE orders', `SELECT 1 INTO OUTFILE '${into()}'`]) {
        const result = await client.callTool({ name: 'mysql_query', arguments: { sql } });
        expect(result.isError, textOf(result)).toBe(true);
      }
      const result = await client.callTool({
        name: 'mysql_query',
        arguments: { sql: 'SELECT count(*) AS n FROM orders' },
      });
      expect(textOf(result)).toBe('1 row\nn\n3');
      expect(existsSync(into())).toBe(false);
    } finally {
      await client.close();
    }
  });

  it('ATTACK 84: no password is in the arguments of a program', async () => {
    const url = `mysql://root:s3cret@x/shop?socket=${encodeURIComponent(server.socket)}`;
    const place = { folder, env: { DATABASE_URL: url, HOME: folder } };
    const given = { database: 'shop', path: 'a.sql' };
    const { work: _work, ...shown } = await planOf(mysql, 'dump', given, place);
    const result = await callAction(mysql, 'dump', given, place);
    expect(result.isError).toBe(true);
    expect(JSON.stringify([shown, result])).not.toContain('s3cret');
  });
});
