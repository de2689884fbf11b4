import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import * as z from 'zod';
import { mysql } from '../../src/discoverers/mysql.ts';
import { mysqlDefaults } from '../../src/machine/databases/mysql-defaults.ts';
import { thisHost } from '../../src/machine/host.ts';

it('ATTACK 80: refuses functions of the server that reach its files', () => {
  const { sql } = mysql.actions.query.params;
  for (const text of [
    "SELECT load_file('/etc/passwd')",
    "SELECT /*!50000 LOAD_FILE*/('/etc/passwd')",
    "SELECT `load_file`/**/('/etc/passwd')",
    "SELECT sys_exec('id')",
    'SELECT setval (s, 1)',
    '\\! id',
  ])
    expect(sql.safeParse(text).success, text).toBe(false);
  expect(z.safeParse(sql, 'SELECT sys_name, nextval FROM t').success).toBe(true);
});

it('reads ~/.my.cnf as the client does', async () => {
  const home = mkdtempSync(join(tmpdir(), 'toolcrib-my-'));
  const host = { ...thisHost(), home, env: { MYSQL_HOST: 'elsewhere', MYSQL_PWD: 'no' } };
  expect((await mysqlDefaults({}, host)).target).toMatchObject({
    host: 'elsewhere',
    port: 3306,
    password: 'no',
  });
  writeFileSync(
    join(home, '.my.cnf'),
    '!includedir /x\n[client]\nuser=ada\npassword="a#b\\tc"\nsocket = /run/x.sock\n[mysqld]\nuser=no\n[mysql]\ndatabase=shop\n',
  );
  expect(await mysqlDefaults({}, host)).toMatchObject({
    target: { host: '/run/x.sock', user: 'ada', password: 'a#b\tc', database: 'shop', protection: 'disable' },
    from: '~/.my.cnf',
  });
  rmSync(home, { recursive: true });
});
