import { existsSync } from 'node:fs';
import { userInfo } from 'node:os';
import type { DatabaseEngine } from '../../core/discoverer.ts';
import { ToolcribError } from '../../core/errors.ts';
import type { DatabaseProfile } from '../../core/settings.ts';
import type { Host } from '../host.ts';
import { addressOf, isDatabase, saidBy, schemesOf, type Said } from './address.ts';
import type { Protection } from './encryption.ts';

/** Where to connect, and as whom. */
export interface Target extends Said {
  readonly engine: DatabaseEngine;
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly protection: Protection;
  /** Where this was decided, for people: `profile shop`, `DATABASE_URL`, `PGHOST`. */
  readonly from: string;
  /** What must not be shown: the password, and an address that has it. */
  readonly secrets: readonly string[];
}

/** What is known of databases on this machine. */
export interface DatabaseServices {
  readonly host: Pick<Host, 'env' | 'platform'>;
  /** By name, from the settings of the operator. */
  readonly profiles: Readonly<Record<string, DatabaseProfile>>;
  /** The absolute path of a program by its name. */
  which(name: string): Promise<string | undefined>;
}

/** What a call may say about where to connect; everything else is the operator's. */
export interface Chosen {
  readonly profile?: string | undefined;
  readonly database?: string | undefined;
}

/** The variables that the engines' own programs read. */
const variables: Readonly<Record<DatabaseEngine, Partial<Record<keyof Said, string>>>> = {
  postgresql: {
    host: 'PGHOST',
    port: 'PGPORT',
    user: 'PGUSER',
    password: 'PGPASSWORD',
    database: 'PGDATABASE',
    protection: 'PGSSLMODE',
    authorities: 'PGSSLROOTCERT',
  },
  mysql: { host: 'MYSQL_HOST', port: 'MYSQL_TCP_PORT', password: 'MYSQL_PWD' },
};

/** Where packages put the server's socket: Debian, Red Hat; then the server's own choice. */
const postgresFolders = ['/var/run/postgresql', '/run/postgresql', '/tmp'];
const mysqlSockets = ['/run/mysqld/mysqld.sock', '/var/lib/mysql/mysql.sock', '/tmp/mysql.sock'];

/**
 * Where a call connects: the profile it names, else DATABASE_URL when it is of this engine; and what these leave open
 * as the variables say that the engine's own programs read, else the server of this machine. Throws ARG_INVALID for a
 * profile that is not there or is of another engine, CONFIG_INVALID for an address that is none.
 */
export function targetOf(engine: DatabaseEngine, chosen: Chosen, services: DatabaseServices): Target {
  const { env } = services.host;
  const { address, from } = addressFor(engine, chosen.profile, services);
  const said = address === undefined ? {} : addressOf(address, engine, from);
  const known: Said = {
    ...saidBy((part) => env[variables[engine][part] ?? '']),
    ...said,
    ...(chosen.database !== undefined && { database: chosen.database }),
  };
  const port = known.port ?? (engine === 'mysql' ? 3306 : 5432);
  // MySQL's programs mean the socket by localhost, unless a port is named.
  const isLocal =
    known.host === undefined || (engine === 'mysql' && known.host === 'localhost' && said.port === undefined);
  const host = isLocal ? localServer(engine, port, services.host) : (known.host ?? 'localhost');
  const { password } = known;
  const secrets = [address, password, password && encodeURIComponent(password)];
  return {
    ...known,
    engine,
    host,
    port,
    user: known.user ?? userInfo().username,
    protection: host.startsWith('/') ? 'disable' : (known.protection ?? 'prefer'),
    from,
    secrets: secrets.filter((secret): secret is string => secret !== undefined && secret !== ''),
  };
}

/** A target in one word, without what is secret: `ada@db.example:5432/shop`. */
export const targetName = ({ user, host, port, database = '' }: Target): string =>
  `${user}@${host}:${port}/${database}`;

function localServer(engine: DatabaseEngine, port: number, { env, platform }: DatabaseServices['host']) {
  if (platform === 'win32') return 'localhost';
  if (engine === 'mysql') return env['MYSQL_UNIX_PORT'] || (mysqlSockets.find(existsSync) ?? 'localhost');
  return postgresFolders.find((folder) => existsSync(`${folder}/.s.PGSQL.${port}`)) ?? 'localhost';
}

interface Address {
  readonly address?: string | undefined;
  readonly from: string;
}

function addressFor(
  engine: DatabaseEngine,
  profile: string | undefined,
  { profiles, host: { env } }: DatabaseServices,
): Address {
  if (profile !== undefined) return ofProfile(engine, profile, profiles, env);
  const address = env['DATABASE_URL'] || undefined;
  const isOurs = address !== undefined && schemesOf[engine].test(address);
  if (isOurs) return { address, from: 'DATABASE_URL' };
  // It may be mistyped: what the variables say is another database then than the one that was meant.
  const unclear =
    address !== undefined && !isDatabase(address)
      ? 'DATABASE_URL: is not the address of a database of a known kind.'
      : engine === 'postgresql' && env['PGSERVICE']
        ? 'PGSERVICE: service files are not read.'
        : undefined;
  if (unclear !== undefined)
    throw new ToolcribError(
      'CONFIG_INVALID',
      unclear,
      'Expected postgresql://… or mysql://… in DATABASE_URL; the operator has to change it, or name a profile.',
    );
  const { host = '' } = variables[engine];
  return { from: env[host] ? host : `the defaults of ${engine}` };
}

function ofProfile(
  engine: DatabaseEngine,
  name: string,
  profiles: DatabaseServices['profiles'],
  env: Host['env'],
): Address {
  const profile = Object.hasOwn(profiles, name) ? profiles[name] : undefined;
  if (profile?.engine !== engine) {
    const names = Object.keys(profiles).filter((known) => profiles[known]?.engine === engine);
    throw new ToolcribError(
      'ARG_INVALID',
      `profile: ${JSON.stringify(name)} is no ${engine} database of the settings.`,
      `There is ${names.join(', ') || 'none; leave it out'}.`,
    );
  }
  const { url, urlFrom } = profile;
  const address = url ?? env[urlFrom ?? ''];
  if (address === undefined && urlFrom !== undefined)
    throw new ToolcribError(
      'CONFIG_INVALID',
      `profile ${name}: the variable ${urlFrom} is not in the environment of the server.`,
      'The operator has to set it, or to change the settings.',
    );
  return { address, from: `profile ${name}` };
}
