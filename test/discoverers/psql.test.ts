import { describe, expect, it } from 'vitest';
import { addressOf } from '../../src/machine/databases/target.ts';
import { targetOf } from '../../src/machine/databases/target.ts';
import type { Settings } from '../../src/core/settings.ts';
import { thisHost, type Host } from '../../src/machine/host.ts';
import { sessionOf } from '../support/session.ts';
import { schemaOf } from '../../src/machine/actions/describe.ts';
import { actionOf, anyProgramOf } from './programs.ts';

const databases = (host: Host, named: Settings['databases']) =>
  sessionOf({ environment: { host }, settings: { databases: named } as Settings });
const query = schemaOf(actionOf(anyProgramOf('psql'), 'query').params);
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

  it('ATTACK 84: takes no connection string, no host, no user and no port', () => {
    for (const database of ['postgres://u:secret@evil/db', 'host=evil', 'service=x', '-f', 'a b'])
      expect(why({ sql: 'SELECT 1', database })).toContain('no connection string');
    for (const more of [{ host: 'evil.example' }, { user: 'postgres' }, { port: 1 }, { cwd: '.' }])
      expect(query.safeParse({ sql: 'SELECT 1', ...more }).success).toBe(false);
  });
});

const said = (ask: () => string): string => {
  try {
    return ask();
  } catch (error) {
    return String(error);
  }
};

describe('the target of a database', () => {
  it('takes a protection that it does not know for the strongest, never for less', () => {
    const host = { ...thisHost(), env: {} as Record<string, string> };
    for (const mode of ['VERIFY_IDENTITY', 'strong']) {
      host.env = { DATABASE_URL: `mysql://h/?ssl-mode=${mode}` };
      const known = databases(host, {});
      expect(targetOf('mysql', {}, known).sslmode).toBe('verify-full');
    }
  });

  it('never shows an address that it cannot read', () => {
    for (const address of ['postgresql://u:s3cret@h:port/x', 'postgresql://u:s3cret%zz@h/x', 's3cret']) {
      expect(() => addressOf(address, 'postgresql', 'DATABASE_URL')).toThrow(
        /^DATABASE_URL: is not the address of a postgresql database\. Expected postgresql:\/\/user@host:5432\/name\.$/,
      );
    }
  });

  it('takes nothing else for the database when DATABASE_URL is mistyped', () => {
    const host = { ...thisHost(), env: { DATABASE_URL: 'postgre://u:s3cret@h/x', PGHOST: 'another' } };
    const known = databases(host, {});
    expect(targetOf('postgresql', {}, known).host).toBe('h');
    host.env.DATABASE_URL = 'postgresql:s3cret';
    expect(said(() => targetOf('postgresql', {}, known).host)).toMatch(
      /DATABASE_URL: is not the address of a postgresql database\. (?!.*s3cret)/,
    );
  });

  it('passes over the address of another kind, and a variable that is not set is no address', () => {
    const shop = { engine: 'postgresql', urlFrom: 'SHOP_URL' } as const;
    const from = (env: Record<string, string>, profile?: string) => {
      const host = { ...thisHost(), env: { PGHOST: 'db.example', PGUSER: 'ada', ...env } };
      const known = databases(host, { shop });
      return said(() => targetOf('postgresql', { profile }, known).host);
    };
    for (const address of ['', 'mysql://h/x', 'sqlite:///shop.db', 'file:./shop.db', 'mongodb+srv://h/x'])
      expect(from({ DATABASE_URL: address }), address).toBe('db.example');
    expect(from({}, 'shop')).toContain('profile shop, variable SHOP_URL: is not the address');
    expect(from({ SHOP_URL: '' }, 'shop')).toContain('is not the address of a postgresql database');
  });
});
