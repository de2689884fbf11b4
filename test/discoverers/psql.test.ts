import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { psql } from '../../src/discoverers/psql.ts';
import { type Server, serverFolder, startServer } from './postgres-server.ts';
import { argvOf, itKeepsItsExamples, parseRecorded, runAction } from './real-program.ts';

describe('psql', () => {
  itKeepsItsExamples(psql);

  it('reads databases', () => {
    expect(parseRecorded(psql, 'databases', 'databases.json')).toEqual({
      databases: [
        { name: 'postgres', owner: 'postgres', encoding: 'UTF8', size_bytes: 7634279 },
        { name: 'shop', owner: 'postgres', encoding: 'UTF8', size_bytes: 7961959 },
      ],
    });
  });

  it('reads tables', () => {
    const rest = { estimated_rows: null, comment: null };
    expect(parseRecorded(psql, 'tables', 'tables.json')).toEqual({
      tables: [
        { schema: 'Odd', name: 'My Table', type: 'table', ...rest },
        { schema: 'public', name: 'big', type: 'view', ...rest },
        { schema: 'public', name: 'customers', type: 'table', ...rest, comment: 'People who buy' },
        { schema: 'public', name: 'customers_id_seq', type: 'sequence', ...rest },
        { schema: 'public', name: 'orders', type: 'table', ...rest },
      ],
    });
  });

  it('reads the description of a table and of a view', () => {
    const at = { name: 'at', type: 'timestamp with time zone', nullable: true };
    expect(parseRecorded(psql, 'describe', 'describe-table.json')).toEqual({
      name: 'orders',
      columns: [
        { name: 'id', type: 'bigint', nullable: false, default: null },
        { name: 'customer_id', type: 'integer', nullable: false, default: null },
        { ...at, default: "'2024-01-02 03:04:05+00'::timestamp with time zone" },
      ],
      indexes: ['CREATE UNIQUE INDEX orders_pkey ON public.orders USING btree (id)'],
      constraints: [
        {
          name: 'orders_customer_id_fkey',
          definition: 'FOREIGN KEY (customer_id) REFERENCES customers(id) ON DELETE CASCADE',
        },
        { name: 'orders_id_check', definition: 'CHECK ((id > 0))' },
        { name: 'orders_pkey', definition: 'PRIMARY KEY (id)' },
      ],
      definition: null,
    });
    expect(parseRecorded(psql, 'describe', 'describe-view.json')).toEqual({
      name: 'big',
      columns: [
        { name: 'id', type: 'bigint', nullable: true, default: null },
        { name: 'customer_id', type: 'integer', nullable: true, default: null },
        { ...at, default: null },
      ],
      indexes: [],
      constraints: [],
      definition: ' SELECT orders.id,\n    orders.customer_id,\n    orders.at\n   FROM orders;',
    });
  });

  it('reads rows: two columns of one name, every digit, and that there is more', () => {
    expect(parseRecorded(psql, 'query', 'query.xml')).toEqual({
      columns: ['id', 'email', 'balance', 'tags', 'id'],
      rows: [[1, 'ada@example.com', '12345678901234567.89', ['a', 'b'], 1]],
      truncated: true,
    });
    expect(parseRecorded(psql, 'query', 'no-rows.xml')).toEqual({ columns: [], rows: [], truncated: false });
  });

  it('refuses output that is something else', () => {
    expect(() => psql.actions.query.parse?.('?column?\n1\n')).toThrow('result element');
    expect(() => psql.actions.tables.parse?.('(0 rows)')).toThrow();
    expect(() => psql.actions.describe.parse?.('[]')).toThrow('object');
  });

  it('ATTACK 73, 74: refuses backslash commands', () => {
    for (const sql of [
      '\\! id',
      ' \\o |id',
      "\n\\copy (select 1) to program 'id'",
      '\\g |id',
      '\\i /etc/passwd',
      '\\e',
    ]) {
      expect(() => argvOf(psql, 'query', { sql })).toThrow('backslash commands');
    }
  });

  it('ATTACK 75: refuses functions which reach outside the database', () => {
    const texts = [
      "SELECT dblink_exec('dbname=shop', 'DELETE FROM orders')",
      'SELECT "lo_export" (1, \'/tmp/x\')',
      "SELECT pg_catalog.pg_read_file/**/('/etc/passwd')",
      'SELECT LO_UNLINK\n(1)',
      "SELECT query_to_xml('sel' || 'ect 1', true, true, '')",
      "SELECT set_config('role', 'postgres', false)",
      'SELECT U&"lo\\005fexport"(1, \'/tmp/x\')',
    ];
    for (const sql of texts) expect(() => argvOf(psql, 'query', { sql })).toThrow(/reaches outside|refused/);
    const column = "SELECT lo_price, http_status, 'dblink' FROM lo_orders ORDER BY pg_read";
    expect(argvOf(psql, 'query', { sql: column }).at(-1)).toContain(column);
  });

  it('ATTACK 77: refuses text that would end the quotes around it', () => {
    for (const sql of ["SELECT 1$toolcrib$, true, true, ''); DROP TABLE orders", 'SELECT 1 $toolcrib']) {
      expect(() => argvOf(psql, 'query', { sql })).toThrow('must not contain');
    }
    expect(() => argvOf(psql, 'tables', { schema: "x' OR 'a" })).toThrow('schema name');
    expect(() => argvOf(psql, 'describe', { table: "x'::regclass" })).toThrow('table name');
  });

  it('ATTACK 84: takes no connection string, and no host the operator did not choose', () => {
    for (const database of ['postgres://u:secret@evil/db', 'host=evil', 'service=x', '-f', 'a b']) {
      expect(() => argvOf(psql, 'tables', { database })).toThrow('no connection string');
    }
    expect(() => argvOf(psql, 'tables', { host: 'evil.example' })).toThrow();
  });
});

describe.skipIf(!serverFolder())(
  'psql, against a real server (skipped where PostgreSQL is not installed)',
  () => {
    let server!: Server;
    const run = (action: string, given: object) =>
      runAction(psql, action, { database: 'postgres', ...given }, { cwd: server.folder, env: server.env });
    const query = (sql: string) => run('query', { sql, limit: 2 });

    beforeAll(() => {
      server = startServer(`
      CREATE TABLE orders(id bigint PRIMARY KEY, note text);
      INSERT INTO orders VALUES (9007199254740993, 'a<&>b'), (2, E'two\\nlines'), (3, NULL);
      CREATE FUNCTION drop_orders() RETURNS int LANGUAGE plpgsql AS $$ BEGIN DELETE FROM orders; RETURN 1; END $$;
      CREATE SCHEMA "Odd"; CREATE TABLE "Odd"."My Table"(a int);`);
    });
    afterAll(() => server.stop());

    it('lists, describes and queries', () => {
      expect(run('databases', {}).data).toMatchObject({
        databases: [{ name: 'postgres', encoding: 'UTF8' }],
      });
      expect(run('tables', { schema: 'public' }).data).toEqual({
        tables: [{ schema: 'public', name: 'orders', type: 'table', estimated_rows: null, comment: null }],
      });
      expect(run('describe', { table: '"Odd"."My Table"' }).data).toMatchObject({ columns: [{ name: 'a' }] });
      expect(query('SELECT id, note FROM orders ORDER BY id DESC -- newest').data).toEqual({
        columns: ['id', 'note'],
        rows: [
          ['9007199254740993', 'a<&>b'],
          [3, null],
        ],
        truncated: true,
      });
      expect(query("VALUES (1, E'two\\nlines', $$it's$$);").data).toMatchObject({
        rows: [[1, 'two\nlines', "it's"]],
      });
    });

    it('fails with what the server says', () => {
      expect(query('SELECT nothing FROM orders').stderr).toContain('column "nothing" does not exist');
      expect(run('describe', { table: 'nothing' })).toMatchObject({
        exitCode: 1,
        stderr: expect.stringContaining('relation "nothing" does not exist'),
      });
    });

    const inside = (statement: string) =>
      `SELECT 1) t) q; ${statement}; SELECT 1 FROM (SELECT * FROM (SELECT 1`;
    const attacks: [row: number, sql: string][] = [
      [73, inside('\\! touch ran')],
      [74, inside("\\copy (SELECT 1) TO PROGRAM 'touch ran'")],
      [75, inside("COPY (SELECT 1) TO PROGRAM 'touch ran'")],
      [75, "COPY (SELECT 1) TO PROGRAM 'touch ran'"],
      [75, inside("DO $$ BEGIN COPY (SELECT 1) TO PROGRAM 'touch ran'; END $$")],
      [75, inside("CREATE FUNCTION f() RETURNS int LANGUAGE sql AS 'SELECT 1'")],
      [75, 'SELECT drop_orders()'],
      [77, inside('SET transaction_read_only = off')],
      [77, inside('COMMIT')],
      [77, inside('ROLLBACK; BEGIN READ WRITE; DELETE FROM orders; COMMIT')],
      [77, inside('DELETE FROM orders')],
      [77, 'COMMIT; DROP TABLE orders'],
      [77, 'WITH gone AS (DELETE FROM orders RETURNING *) SELECT * FROM gone'],
      [77, inside('WITH gone AS (DELETE FROM orders RETURNING *) SELECT * FROM gone')],
      [77, 'EXPLAIN ANALYZE DELETE FROM orders'],
      [77, 'SELECT * INTO copied FROM orders'],
      [77, 'SELECT * FROM orders FOR UPDATE'],
    ];
    it.each(attacks)('ATTACK %i: %s changes nothing', (_row, sql) => {
      const { exitCode, data } = query(sql);
      expect(data).toBeUndefined();
      expect(exitCode).not.toBe(0);
      expect(query('SELECT count(*) FROM orders').data).toMatchObject({ rows: [[3]] });
      for (const folder of [server.folder, join(server.folder, 'data')])
        expect(existsSync(join(folder, 'ran'))).toBe(false);
    });
  },
);
