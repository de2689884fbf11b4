import { describe, expect, it } from 'vitest';
import { sqlite3 } from '../../src/discoverers/sqlite3.ts';
import { argvOf, itKeepsItsExamples, parseRecorded } from './real-program.ts';

describe('sqlite3', () => {
  itKeepsItsExamples(sqlite3);

  it('gives no query more time than the other databases do', () => {
    for (const action of Object.values(sqlite3.actions)) expect(action).toMatchObject({ timeoutMs: 30_000 });
  });

  it('reads tables', () => {
    expect(parseRecorded(sqlite3, 'tables', 'tables.json')).toEqual({
      tables: [
        { name: 'odd name', type: 'table', columns: 1 },
        { name: 'user_names', type: 'view', columns: 1 },
        { name: 'users', type: 'table', columns: 4 },
      ],
    });
  });

  it('reads a schema', () => {
    expect(parseRecorded(sqlite3, 'schema', 'schema.json')).toEqual({
      objects: [
        {
          type: 'table',
          name: 'users',
          table: 'users',
          sql: 'CREATE TABLE users(id INTEGER PRIMARY KEY, name TEXT NOT NULL, score REAL, big INTEGER)',
        },
        { type: 'index', name: 'users_name', table: 'users', sql: 'CREATE INDEX users_name ON users(name)' },
      ],
    });
  });

  const rowsOf = (printed: string) =>
    sqlite3.actions.query.parse?.(`              length 100000000\n'most'\n2\n${printed}`);

  it('reads rows with what is stored in their columns, and keeps every digit of a number', () => {
    const printed =
      "'id','it''s','b','r','big','id'\n1,'a''b\nc, 2',X'00Ff',1.5,9007199254740993,1\n2,NULL,X'',0.10000000000000000555,-5,2\n3,4,5,Inf,7,3\n";
    expect(rowsOf(printed)).toEqual({
      columns: [
        { name: 'id', type: 'integer' },
        { name: "it's", type: 'text' },
        { name: 'b', type: 'blob' },
        { name: 'r', type: 'real' },
        { name: 'big', type: 'integer' },
        { name: 'id', type: 'integer' },
      ],
      rows: [
        [1, "a'b\nc, 2", '\\x00ff', 1.5, '9007199254740993', 1],
        [2, null, '\\x', 0.1, -5, 2],
      ],
      truncated: true,
    });
    expect(rowsOf("'a'\nunistr('x\\u000ay\\\\')\n-Inf\n")).toMatchObject({
      columns: [{ type: 'real or text' }],
      rows: [['x\ny\\'], ['-Infinity']],
    });
  });

  it('reads an answer without rows', () => {
    expect(rowsOf('')).toEqual({ columns: [], rows: [], truncated: false });
    expect(sqlite3.actions.tables.parse?.('')).toEqual({ tables: [] });
  });

  it('refuses output that is something else', () => {
    expect(() => sqlite3.actions.query.parse?.('id|name\n')).toThrow('row limit');
    expect(() => rowsOf("'a'\nx''y\n")).toThrow();
    expect(() => sqlite3.actions.tables.parse?.('{}')).toThrow('array');
    expect(() => sqlite3.actions.explain.parse?.('SCAN users')).toThrow('query plan');
  });

  it('ATTACK 81: refuses dot commands', () => {
    for (const sql of ['.shell id', ' .system id', '\n.output |id', '.load x', '.import a b', '.read x']) {
      expect(() => argvOf(sqlite3, 'query', { database: 'shop.db', sql })).toThrow('dot commands');
    }
  });

  it('ATTACK 82: refuses table functions which -safe leaves alone', () => {
    for (const sql of [
      "SELECT data FROM fsdir('/etc/passwd')",
      'SELECT * FROM "FSDIR"(\'/\')',
      "TABLE zipfile('x')",
    ]) {
      expect(() => argvOf(sqlite3, 'query', { database: 'shop.db', sql })).toThrow('read other files');
    }
  });
});
