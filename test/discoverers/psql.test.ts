import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { psql } from '../../src/discoverers/psql.ts';
import { addressOf } from '../../src/machine/databases/address.ts';
import { parseOptions } from '../../src/machine/databases/option-file.ts';
import { passwordIn } from '../../src/machine/databases/password-file.ts';
import { targetOf } from '../../src/machine/databases/target.ts';
import { thisHost } from '../../src/machine/host.ts';
import { readerOf } from '../../src/machine/databases/postgres-values.ts';

const query = z.strictObject(psql.actions.query.params);
const why = (given: object): string =>
  query
    .safeParse(given)
    .error?.issues.map((i) => i.message)
    .join() ?? '';

describe('psql', () => {
  it('ATTACK 73, 74: refuses backslash commands', () => {
    for (const sql of ['\\! id', ' \\o |id', "\n\\copy (select 1) to program 'id'", '\\i /etc/passwd', '\\e'])
      expect(why({ sql })).toContain('backslash commands');
  });

  it('ATTACK 75: refuses functions which reach outside the database', () => {
    for (const sql of [
      "SELECT dblink_exec('dbname=shop', 'DELETE FROM orders')",
      'SELECT "lo_export" (1, \'/tmp/x\')',
      "SELECT pg_catalog.pg_read_file/**/('/etc/passwd')",
      'SELECT LO_UNLINK\n(1)',
      "SELECT query_to_xml('sel' || 'ect 1', true, true, '')",
      "SELECT set_config('role', 'postgres', false)",
      'SELECT pg_terminate_backend--\n(1)',
      'SELECT U&"lo\\005fexport"(1, \'/tmp/x\')',
      'SELECT rolpassword FROM pg_authid',
      'SELECT passwd FROM "pg_shadow"',
    ])
      expect(why({ sql }), sql).toContain('reaches outside');
    const column = "SELECT lo_price, http_status, 'dblink', pg_authid_ FROM lo_orders ORDER BY pg_read";
    expect(query.parse({ sql: column }).sql).toBe(column);
  });

  it('ATTACK 84: takes no connection string, no host, no user and no port', () => {
    for (const database of ['postgres://u:secret@evil/db', 'host=evil', 'service=x', '-f', 'a b'])
      expect(why({ sql: 'SELECT 1', database })).toContain('no connection string');
    for (const more of [{ host: 'evil.example' }, { user: 'postgres' }, { port: 1 }, { cwd: '.' }])
      expect(query.safeParse({ sql: 'SELECT 1', ...more }).success).toBe(false);
  });
});

describe('where a database is', () => {
  it('reads addresses as their programs do', () => {
    expect(
      addressOf('postgres://ada:a%40b@db.example:5433/shop?sslmode=verify-ca', 'postgresql', 'x'),
    ).toEqual({
      host: 'db.example',
      port: 5433,
      user: 'ada',
      password: 'a@b',
      database: 'shop',
      protection: 'verify-ca',
    });
    expect(addressOf('postgresql://ada@/shop?host=/run/pg', 'postgresql', 'x')).toEqual({
      host: '/run/pg',
      user: 'ada',
      database: 'shop',
    });
    expect(addressOf('postgresql:///', 'postgresql', 'x')).toEqual({});
    expect(addressOf('mysql2://root@[::1]/a%20b', 'mysql', 'x')).toEqual({
      host: '::1',
      user: 'root',
      database: 'a b',
    });
    expect(addressOf('mysql://h/?ssl-mode=VERIFY_IDENTITY', 'mysql', 'x')).toMatchObject({
      protection: 'verify-full',
    });
    // What is not known is never less than what was meant.
    expect(addressOf('mysql://h/?ssl-mode=strong', 'mysql', 'x')).toMatchObject({
      protection: 'verify-full',
    });
  });

  it('never shows an address that it cannot read', () => {
    for (const address of ['postgresql://u:s3cret@h:port/x', 'postgresql://u:s3cret%zz@h/x', 's3cret']) {
      expect(() => addressOf(address, 'postgresql', 'DATABASE_URL')).toThrow(
        /^DATABASE_URL: is not the address of a postgresql database\. Expected postgresql:\/\/user@host:5432\/name\.$/,
      );
    }
  });

  it.each(['postgre://u:s3cret@h/x', 's3cret', 'postgresql:s3cret', ' mysql://u:s3cret@h'])(
    'takes nothing else for the database when DATABASE_URL is %j',
    async (address) => {
      const host = { ...thisHost(), env: { DATABASE_URL: address } };
      const services = { host, profiles: {}, which: () => Promise.resolve(undefined) };
      for (const engine of ['postgresql', 'mysql'] as const) {
        const failure = await targetOf(engine, {}, services).then(String, String);
        expect(failure).toContain('DATABASE_URL: is not the address of a database of a known kind.');
        expect(failure).not.toContain('s3cret');
      }
    },
  );

  it('passes over the address of another kind, and a variable that is not set is no address', async () => {
    const shop = { engine: 'postgresql', urlFrom: 'SHOP_URL' } as const;
    const from = async (env: Record<string, string>, profile?: string) => {
      const host = { ...thisHost(), env: { PGHOST: 'db.example', PGUSER: 'ada', ...env } };
      const services = { host, profiles: { shop }, which: () => Promise.resolve(undefined) };
      return targetOf('postgresql', { profile }, services).then(({ host: name }) => name, String);
    };
    for (const address of ['', 'mysql://h/x', 'sqlite:///shop.db', 'file:./shop.db', 'mongodb+srv://h/x'])
      expect(await from({ DATABASE_URL: address }), address).toBe('db.example');
    expect(await from({}, 'shop')).toContain('the variable SHOP_URL is not in the environment');
    expect(await from({ SHOP_URL: '' }, 'shop')).toContain('is not the address of a postgresql database');
  });

  it('reads option files, and follows nothing in them', () => {
    const options = parseOptions(
      '!include /etc/x\nlost=1\n[client]\n# no\nuser = ada\nssl_ca=/x\nskip-ssl\n',
    );
    expect([...(options.get('client') ?? [])]).toEqual([
      ['user', 'ada'],
      ['ssl-ca', '/x'],
      ['skip-ssl', ''],
    ]);
  });

  it('finds a password as libpq does', () => {
    const file = '# c\nother:*:*:*:no\nlocalhost:5432:*:a\\:b:p\\:w\\\\d\n*:*:*:*:last\n';
    const login = { host: 'localhost', port: 5432, database: 'x', user: 'a:b' };
    expect(passwordIn(file, login)).toBe('p:w\\d');
    expect(passwordIn(file, { ...login, user: 'c' })).toBe('last');
    expect(passwordIn('x:1:y\n', login)).toBeUndefined();
  });
});

it('reads what is no array of PostgreSQL as text', () => {
  for (const text of ['{1', 'x', '', '}{', '{{1}']) expect(readerOf('integer[]', 100)(text)).toBe(text);
});
