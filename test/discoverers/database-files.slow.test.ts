import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import type { Result } from '../../src/core/tool.ts';
import { callAction, saidBy } from '../support/call-action.ts';
import { temporaryFolder } from '../support/repository.ts';
import { programOf } from './programs.ts';
import { argvOf, hasProgram, reportOf } from './real-program.ts';

const sqlite3 = programOf('sqlite3');

it('reads rows with every digit of a number, bytes and text told apart', () => {
  const printed =
    "'id','it''s','b','r','big','id'\n1,'a''b\nc, 2',X'00Ff',1.5,9007199254740993,1\n2,NULL,X'',0.1,-5,2\n3,4,5,Inf,7,3\n";
  const { data } = reportOf(sqlite3, 'query', {
    stdout: `        length 100000000\n${printed}`,
    given: { limit: 2 },
  });
  expect(data).toEqual({
    columns: ['id', "it's", 'b', 'r', 'big', 'id'],
    rows: [
      [1, "a'b\nc, 2", '\\x00ff', 1.5, '9007199254740993', 1],
      [2, null, '\\x', 0.1, -5, 2],
    ],
    more: true,
  });
  expect(reportOf(sqlite3, 'query', { stdout: "'a'\nunistr('x\\u000ay\\\\')\n" }).data).toMatchObject({
    rows: [['x\ny\\']],
  });
  for (const stdout of ['id|name\n', "'a'\nx''y\n"])
    expect(() => reportOf(sqlite3, 'query', { stdout })).toThrow('expected');
});

it('ATTACK 81, 82: refuses dot commands, and table functions which -safe leaves alone', () => {
  for (const of of [sqlite3, programOf('duckdb')])
    for (const key of ['query', 'execute']) {
      for (const sql of ['.shell id', ' .system id', '\n.output |id', '.load x', '.import a b', '.read x'])
        expect(() => argvOf(of, key, { database: 'shop.db', sql })).toThrow('dot commands');
      for (const sql of [
        "SELECT data FROM fsdir('/etc/passwd')",
        'SELECT * FROM "FSDIR"(\'/\')',
        "TABLE zipfile('x')",
      ])
        expect(() => argvOf(of, key, { database: 'shop.db', sql })).toThrow('read other files');
    }
});

describe.skipIf(!hasProgram('sqlite3', '-safe', ':memory:', 'SELECT 1'))('sqlite3 (3.37 or newer)', () => {
  let folder = '';
  const call = async (key: string, given: object, env: Record<string, string> = {}) =>
    await callAction(sqlite3, key, { database: 'shop.db', ...given }, { folder, env, trusted: true }).catch(
      (error: unknown) => ({ isError: true, content: [{ type: 'text' as const, text: String(error) }] }),
    );
  const query = async (sql: string, env = {}) => (await call('query', { sql, limit: 2 }, env)) as Result;
  const told = async (key: string, given: object) => {
    const [text] = (await call(key, given)).content ?? [];
    return text && 'text' in text ? text.text : '';
  };

  beforeEach(() => {
    folder = temporaryFolder();
    const setup = `
      CREATE TABLE users(id INTEGER PRIMARY KEY, name TEXT NOT NULL DEFAULT 'x', score REAL, big INTEGER);
      CREATE INDEX users_name ON users(name);
      CREATE VIEW user_names AS SELECT name FROM users;
      CREATE TABLE "odd name"(a);
      INSERT INTO users VALUES (1, 'Ada', 1.5, 9007199254740993), (2, 'Bob', NULL, 2), (3, 'Cy', 2.5, 3);`;
    for (const database of ['shop.db', 'other.db']) spawnSync('sqlite3', [join(folder, database), setup]);
    writeFileSync(join(folder, 'secret.txt'), 'secret');
    writeFileSync(join(folder, "it's x.csv"), 'a,b\n1,"x, y"\n');
  });

  it('lists and describes tables and views', async () => {
    expect(await told('tables', {})).toMatch(
      /^3 tables\nodd name \(a\)\nuser_names \(n\w+\) view\nusers \(id, name, score, big\)$/,
    );
    expect(await told('describe', { table: 'Users' })).toBe(
      "4 columns\nid INTEGER not null\nname TEXT not null = 'x'\nscore REAL\nbig INTEGER\n" +
        "CREATE TABLE users(id INTEGER PRIMARY KEY, name TEXT NOT NULL DEFAULT 'x', score REAL, big INTEGER)\n" +
        'CREATE INDEX users_name ON users(name)',
    );
    expect(await told('describe', { table: "nothing'" })).toBe(
      "NOT_FOUND: nothing': there is no such table.",
    );
    expect(await told('dump', { table: 'users' })).toContain("INSERT INTO users VALUES(3,'Cy',2.5,3);");
  });

  it('queries in the order asked for, says that there is more, and counts in numbers', async () => {
    expect((await query('SELECT name, score FROM users ORDER BY name DESC -- newest')).data).toEqual({
      columns: ['name', 'score'],
      rows: [
        ['Cy', 2.5],
        ['Bob', null],
      ],
      more: true,
    });
    expect((await query('WITH one AS (SELECT count(*) AS a FROM users) SELECT * FROM one;\n;')).data).toEqual(
      {
        columns: ['a'],
        rows: [[3]],
        more: false,
      },
    );
    expect(await told('query', { sql: 'PRAGMA table_info(users)', limit: 1 })).toMatch(
      /^1 row; there are more/,
    );
    const sql = "EXPLAIN QUERY PLAN SELECT * FROM users WHERE name = 'Ada' -- who";
    const plan = await told('query', { sql });
    expect(plan).toMatch(
      /^1 row\nid\tparent\tnotused\tdetail\n\d+\t0\t\d+\tSEARCH users [^\n]*users_name[^\n]*$/,
    );
    for (const own of [`-- why\n${sql}`, `/* why */ ${sql}`, sql.toLowerCase()])
      expect(await told('query', { sql: own }), own).toMatch(/^1 row\n[^]*users_name/i);
    const steps = await told('query', { sql: 'EXPLAIN SELECT * FROM users' });
    expect(steps).toMatch(/^\d+ rows\naddr\topcode\t/);
    expect(plan + steps).not.toMatch(/limit/i);
  });

  it('makes a database, and changes it all or not at all', async () => {
    const database = 'new.db';
    expect(await told('open', { database })).toBe('no tables');
    expect(await told('execute', { database, sql: 'CREATE TABLE t(a); INSERT INTO t VALUES (1), (2)' })).toBe(
      'rows changed\n2',
    );
    const failed = await call('execute', { database, sql: 'DELETE FROM t; DELETE FROM nothing' });
    expect([failed.isError, await told('query', { database, sql: 'SELECT count(*) AS n FROM t' })]).toEqual([
      true,
      '1 row\nn\n2',
    ]);
  });

  it('ATTACK 85: makes no value that is larger than memory', async () => {
    expect(saidBy(await query('SELECT zeroblob(1000000000)'))).toContain('too big');
  });

  it('fails on a file that does not exist, and makes none', async () => {
    expect(await told('tables', { database: 'missing.db' })).toContain('unable to open');
    expect(existsSync(join(folder, 'missing.db'))).toBe(false);
  });

  it('ATTACK 52: does not follow a link', async () => {
    const outside = temporaryFolder();
    renameSync(join(folder, 'other.db'), join(outside, 'other.db'));
    symlinkSync(join(outside, 'other.db'), join(folder, 'link.db'));
    for (const [key, more] of [
      ['tables', {}],
      ['execute', { sql: 'DROP TABLE users' }],
    ] as const)
      expect((await call(key, { database: 'link.db', ...more })).isError).toBe(true);
    renameSync(join(outside, 'other.db'), join(folder, 'other.db'));
  });

  it('does not read ~/.sqliterc', async () => {
    const home = temporaryFolder();
    mkdirSync(join(home, 'sqlite3'));
    for (const file of ['.sqliterc', 'sqlite3/sqliterc'])
      writeFileSync(join(home, file), `.shell touch '${join(home, 'ran')}'\n.print hello\n`);
    const { data } = await query('SELECT 1 AS a', { HOME: home, XDG_CONFIG_HOME: home });
    expect(data).toMatchObject({ rows: [[1]] });
    expect(existsSync(join(home, 'ran'))).toBe(false);
  });
});
