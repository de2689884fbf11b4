import { spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { isOneQuery, sqlite3 } from '../../src/discoverers/sqlite3.ts';
import { hasProgram, parseRecorded, runAction } from './real-program.ts';

describe.skipIf(!hasProgram('sqlite3', '-safe', ':memory:', 'SELECT 1'))(
  'sqlite3, the real one (3.37 or newer)',
  () => {
    let folder = '';
    const query = (sql: string, env: Record<string, string> = {}) =>
      runAction(sqlite3, 'query', { database: 'shop.db', sql, limit: 2 }, { cwd: folder, env });

    beforeAll(() => {
      folder = mkdtempSync(join(tmpdir(), 'toolcrib-sqlite3-'));
      const setup = `
      CREATE TABLE users(id INTEGER PRIMARY KEY, name TEXT NOT NULL, score REAL, big INTEGER);
      CREATE INDEX users_name ON users(name);
      CREATE VIEW user_names AS SELECT name FROM users;
      CREATE TABLE "odd name"(a);
      INSERT INTO users VALUES (1, 'Ada', 1.5, 9007199254740993), (2, 'Bob', NULL, 2), (3, 'Cy', 2.5, 3);`;
      for (const database of ['shop.db', 'other.db']) spawnSync('sqlite3', [join(folder, database), setup]);
      writeFileSync(join(folder, 'secret.txt'), 'secret');
    });
    afterAll(() => rmSync(folder, { recursive: true, force: true }));

    it('lists tables and their schema', () => {
      const where = { cwd: folder };
      expect(runAction(sqlite3, 'tables', { database: 'shop.db' }, where).data).toEqual(
        parseRecorded(sqlite3, 'tables', 'tables.json'),
      );
      expect(runAction(sqlite3, 'schema', { database: 'shop.db', table: 'users' }, where).data).toEqual(
        parseRecorded(sqlite3, 'schema', 'schema.json'),
      );
      const all = runAction(sqlite3, 'schema', { database: 'shop.db' }, where).data as { objects: unknown[] };
      expect(all.objects).toHaveLength(4);
    });

    it('queries in the order asked for, and says that there is more', () => {
      expect(() => query('SELECT name, score FROM users ORDER BY name DESC; -- newest\n;')).toThrow(
        'one query',
      );
      expect(query('SELECT name, score FROM users ORDER BY name DESC -- newest').data).toEqual({
        columns: [
          { name: 'name', type: 'text' },
          { name: 'score', type: 'real' },
        ],
        rows: [
          ['Cy', 2.5],
          ['Bob', null],
        ],
        truncated: true,
      });
      expect(query('WITH one AS (SELECT 1 AS a) SELECT * FROM one;').data).toEqual({
        columns: [{ name: 'a', type: 'integer' }],
        rows: [[1]],
        truncated: false,
      });
    });

    it('tells bytes, large numbers and text apart, and two columns of one name', () => {
      const sql =
        "SELECT x'00ff41' AS a, 9007199254740993 AS b, 9e999 AS c, 0.1 AS d, 'it''s\n,x' AS e, 1 AS a, zeroblob(1000) AS z";
      expect(query(sql).data).toMatchObject({
        rows: [
          [
            '\\x00ff41',
            '9007199254740993',
            'Infinity',
            0.1,
            "it's\n,x",
            1,
            expect.stringMatching(/^\\x(00){256}… \[1000 bytes\]$/),
          ],
        ],
      });
    });

    it('explains without running', () => {
      const { data } = runAction(
        sqlite3,
        'explain',
        { database: 'shop.db', sql: "SELECT * FROM users WHERE name = 'Ada' -- who" },
        { cwd: folder },
      );
      expect(data).toMatchObject({ plan: [expect.stringContaining('users_name')] });
    });

    it('ATTACK 85: makes no value that is larger than memory', () => {
      expect(query('SELECT zeroblob(1000000000)')).toMatchObject({
        data: undefined,
        stderr: expect.stringContaining('too big'),
      });
    });

    it('fails on a file that does not exist, and makes none', () => {
      const missing = runAction(sqlite3, 'tables', { database: 'missing.db' }, { cwd: folder });
      expect(missing).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('unable to open') });
      expect(existsSync(join(folder, 'missing.db'))).toBe(false);
    });

    it('ATTACK 52: does not follow a link', () => {
      const outside = mkdtempSync(join(tmpdir(), 'toolcrib-outside-'));
      renameSync(join(folder, 'other.db'), join(outside, 'other.db'));
      symlinkSync(join(outside, 'other.db'), join(folder, 'link.db'));
      const { exitCode, stdout } = runAction(sqlite3, 'tables', { database: 'link.db' }, { cwd: folder });
      expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: '' });
      renameSync(join(outside, 'other.db'), join(folder, 'other.db'));
      rmSync(outside, { recursive: true });
    });

    it('does not read ~/.sqliterc', () => {
      writeFileSync(join(folder, '.sqliterc'), `.shell touch '${join(folder, 'rc-ran')}'\n.print hello\n`);
      const config = join(folder, 'sqlite3');
      mkdirSync(config);
      writeFileSync(join(config, 'sqliterc'), `.shell touch '${join(folder, 'rc-ran')}'\n`);
      expect(query('SELECT 1 AS a', { HOME: folder, XDG_CONFIG_HOME: folder }).data).toMatchObject({
        rows: [[1]],
      });
      expect(existsSync(join(folder, 'rc-ran'))).toBe(false);
    });

    const attacks: [row: number, sql: string][] = [
      [81, 'SELECT 1);\n.shell touch ran\nSELECT * FROM (SELECT 1'],
      [82, "SELECT writefile('ran', 'x')"],
      [82, "SELECT readfile('secret.txt')"],
      [82, "SELECT edit('', 'touch ran')"],
      [82, "SELECT load_extension('./ran')"],
      [82, "SELECT 1); ATTACH 'other.db' AS o; SELECT * FROM (SELECT * FROM o.users"],
      [82, "SELECT 1); VACUUM INTO 'ran'; SELECT * FROM (SELECT 1"],
      [82, 'SELECT 1); PRAGMA user_version = 7; SELECT * FROM (SELECT 1'],
      [82, 'SELECT 1); PRAGMA journal_mode = wal; SELECT * FROM (SELECT 1'],
      [82, 'SELECT 1); DELETE FROM users; SELECT * FROM (SELECT 1'],
      [82, 'DELETE FROM users'],
      [82, 'SELECT 1; SELECT 2'],
    ];
    it.each(attacks)('ATTACK %i: %s changes nothing and tells nothing', (_row, sql) => {
      // What is more than one query does not even reach the engine.
      if (!isOneQuery(sql)) return expect(() => query(sql)).toThrow('one query');
      const before = readFileSync(join(folder, 'shop.db'));
      const files = readdirSync(folder).filter((file) => !file.startsWith('.sqliterc') && file !== 'sqlite3');
      const { data, exitCode, stdout } = query(sql);
      expect(data).toBeUndefined();
      expect(exitCode).not.toBe(0);
      expect(stdout).not.toContain('secret');
      expect(readFileSync(join(folder, 'shop.db'))).toEqual(before);
      expect(
        readdirSync(folder).filter((file) => !file.startsWith('.sqliterc') && file !== 'sqlite3'),
      ).toEqual(files);
    });
  },
);
