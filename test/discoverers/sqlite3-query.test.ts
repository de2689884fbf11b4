import { expect, it } from 'vitest';
import { isOneQuery } from '../../src/discoverers/sqlite3.ts';

it.each([
  'select 1',
  'select \';)\' as a, "b;(", `c)`, [d;(] from t -- ; )',
  'select (1 + (2)) /* ; ) */ from t',
  "select 'it''s'",
  'with x as (select 1) select * from x',
])('%s is one query', (text) => expect(isOneQuery(text)).toBe(true));

it.each([
  'select 1; drop table t',
  'select 1); pragma database_list; select * from (select 2',
  'select 1) union select * from (select 2',
  'select (1',
  "select $a(') ); create temp table w as select 1; select * from (select $b(')",
  "select 'open",
  'select 1 /* open */; select 2',
])('%s is not', (text) => expect(isOneQuery(text)).toBe(false));
