import { existsSync } from 'node:fs';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import type { DatabaseEngine } from '../../core/discoverer.ts';
import { ToolcribError } from '../../core/errors.ts';
import type { Settings } from '../../core/settings.ts';
import { readPlain } from '../../store/own-files.ts';
import type { Environment } from '../environment.ts';
import type { Host } from '../host.ts';

/**
 * The parts of a connection that an address or variables name. A host can be a path, of the folder
 * (PostgreSQL) or file (MySQL) of a socket; `sslrootcert` is the path of a file with the authorities that are
 * trusted.
 */
type TargetFields = Readonly<Partial<Record<TargetPart, string>>>;
type TargetPart = 'host' | 'port' | 'user' | 'password' | 'database' | 'sslmode' | 'sslrootcert';

/**
 * Kinds of protection of a connection, from less to more. `prefer`: encrypted where the server can;
 * `verify-ca`: by a certificate of an authority that is trusted; `verify-full`: and made out to this host.
 */
export type Protection = 'disable' | 'prefer' | 'require' | 'verify-ca' | 'verify-full';

/** A server and database to connect to, and the login. */
export interface Target extends Omit<TargetFields, 'port'> {
  readonly engine: DatabaseEngine;
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly sslmode: Protection;
  /** The source of this decision, for people: `profile shop`, `DATABASE_URL`, `PGHOST`. */
  readonly from: string;
  /** It is the address of a project, which the operator has not named. */
  readonly isOfProject: boolean;
  /** Texts that must not be shown: the password, and an address that has it. */
  readonly secrets: readonly string[];
}

/** The part of a session that says which databases there are. */
export interface KnownDatabases {
  readonly environment: Pick<Environment, 'host' | 'which'>;
  readonly settings: Pick<Settings, 'databases'>;
}

/** The choices of a call about where to connect; everything else is the operator's. */
export interface TargetChoice {
  readonly profile?: string | undefined;
  readonly database?: string | undefined;
}

/** The variables that the engines' own programs read, and are given. */
export const variablesOf: Readonly<Record<DatabaseEngine, TargetFields>> = {
  postgresql: {
    host: 'PGHOST',
    port: 'PGPORT',
    user: 'PGUSER',
    password: 'PGPASSWORD',
    database: 'PGDATABASE',
    sslmode: 'PGSSLMODE',
    sslrootcert: 'PGSSLROOTCERT',
  },
  mysql: { host: 'MYSQL_HOST', port: 'MYSQL_TCP_PORT', password: 'MYSQL_PWD' },
};

/**
 * The target of a call: the profile it names, else DATABASE_URL when it is of this engine; and what these
 * leave open as the variables say that the engine's own programs read, else the server of this machine. Where
 * the operator has said nothing, the address that the project names, without anything of the operator's.
 * Throws ARG_INVALID for a profile that is not there or is of another engine, CONFIG_INVALID for an address
 * that is none.
 */
export function targetOf(
  engine: DatabaseEngine,
  chosen: TargetChoice,
  known: KnownDatabases,
  ofProject?: Address,
): Target {
  const { host: machine } = known.environment;
  const { env } = machine;
  const named = addressFor(engine, chosen.profile, known);
  const isSaid = named.address !== undefined || env[variablesOf[engine].host ?? ''] !== undefined;
  const isOfProject = !isSaid && ofProject !== undefined;
  const { address, from } = isOfProject ? ofProject : named;
  const said = address === undefined ? {} : addressOf(address, engine, from);
  // A password of the operator's goes nowhere that a project chooses.
  const variables = isOfProject ? [] : Object.entries(variablesOf[engine]);
  const fields: TargetFields = {
    ...withoutBlanks(Object.fromEntries(variables.map(([part, name]) => [part, env[name]]))),
    ...said,
    ...(chosen.database !== undefined && { database: chosen.database }),
  };
  const port = Number(fields.port) || (engine === 'mysql' ? 3306 : 5432);
  // MySQL's programs mean the socket by localhost, unless a port is named.
  const isSocket = engine === 'mysql' && fields.host === 'localhost' && said.port === undefined;
  const given = isSocket ? undefined : fields.host;
  const host = given ?? localServer(engine, port, machine);
  const { password } = fields;
  const secrets = [address, password, password && encodeURIComponent(password)];
  return {
    ...fields,
    engine,
    host,
    port,
    user: fields.user ?? userInfo().username,
    sslmode: host.startsWith('/') ? 'disable' : protectionOf(fields.sslmode ?? 'prefer'),
    from,
    isOfProject,
    secrets: secrets.filter((secret): secret is string => Boolean(secret)),
  };
}

/** A target in one word, without what is secret: `ada@db.example:5432/shop`. */
export const targetName = ({ user, host, port, database = '' }: Target): string =>
  `${user}@${host}:${port}/${database}`;

/** A text without what must not be shown; the longest first, since one may be a part of another. */
export const withoutSecrets = (text: string, secrets: readonly string[]): string =>
  [...secrets]
    .sort((a, b) => b.length - a.length)
    .reduce((rest, secret) => rest.replaceAll(secret, '***'), text);

/** The places of the server's socket: Debian, Red Hat; then the server's own choice. */
function localServer(engine: DatabaseEngine, port: number, { env, platform }: Host) {
  if (platform === 'win32') return 'localhost';
  const files = ['/run/mysqld/mysqld.sock', '/var/lib/mysql/mysql.sock', '/tmp/mysql.sock'];
  if (engine === 'mysql') return env['MYSQL_UNIX_PORT'] || (files.find(existsSync) ?? 'localhost');
  const folders = ['/var/run/postgresql', '/run/postgresql', '/tmp'];
  return folders.find((folder) => existsSync(`${folder}/.s.PGSQL.${port}`)) ?? 'localhost';
}

interface Address {
  /** Left out where nothing is said of one. */
  readonly address?: string | undefined;
  /** The place where it is written, for people: `/w/shop/.env`. */
  readonly from: string;
}

/** The address of a profile, else that of DATABASE_URL, if there is one. */
function addressFor(
  engine: DatabaseEngine,
  name: string | undefined,
  { environment, settings }: KnownDatabases,
): Address {
  const { env } = environment.host;
  if (name !== undefined) {
    const named = Object.entries(settings.databases).filter(([, profile]) => profile.engine === engine);
    const [, profile] = named.find(([each]) => each === name) ?? [];
    if (profile?.url !== undefined) return { address: profile.url, from: `profile ${name}` };
    const { urlFrom = '' } = profile ?? {};
    if (profile) return { address: env[urlFrom] ?? '', from: `profile ${name}, variable ${urlFrom}` };
    throw new ToolcribError(
      'ARG_INVALID',
      `profile: ${JSON.stringify(name)} is no ${engine} database of the settings.`,
      `There is ${named.map(([each]) => each).join(', ') || 'none; leave it out'}.`,
    );
  }
  const address = env['DATABASE_URL'] ?? '';
  if (schemesOf[engine].test(address)) return { address, from: 'DATABASE_URL' };
  if (engine === 'postgresql' && env['PGSERVICE'])
    throw new ToolcribError('CONFIG_INVALID', 'PGSERVICE: service files are not read.', 'Name a profile.');
  const { host = '' } = variablesOf[engine];
  return { from: env[host] ? host : `the defaults of ${engine}` };
}

/**
 * The first address of that scheme in the `.env` of a folder: of any variable, DATABASE_URL before others.
 */
export function projectAddress(scheme: RegExp, folders: readonly string[]): Address | undefined {
  for (const folder of folders) {
    const from = join(folder, '.env');
    const text = readPlain(from, ({ size }) => size <= 64 * 1024)?.toString() ?? '';
    const said = [...text.matchAll(/^[ \t]*(?:export[ \t]+)?(\w+)[ \t]*=[ \t]*(.*?)[ \t]*\r?$/gm)]
      .map(([, name = '', value = '']) => ({ name, value: value.replace(/^(["'])(.*)\1$/, '$2') }))
      .filter(({ value }) => scheme.test(value));
    const found = said.find(({ name }) => name === 'DATABASE_URL') ?? said[0];
    if (found) return { address: found.value, from };
  }
  return undefined;
}

/** Tells if a host is this machine: by the loopback, or a socket. */
export const isLoopback = (host: string): boolean =>
  host.startsWith('/') || /^(?:localhost|127(?:\.\d{1,3}){3}|::1)$/i.test(host);

/**
 * The beginnings of addresses, also as SQLAlchemy and Rails write them, and nearly so: what is mistyped is
 * meant.
 */
export const schemesOf: Readonly<Record<DatabaseEngine, RegExp>> = {
  postgresql: /^\s*postg\w*(?:\+\w+)?:/i,
  mysql: /^\s*(?:my|maria)\w*(?:\+\w+)?:/i,
};

/** A host of this name means that none was given. */
const nowhere = 'no-host.invalid';

/**
 * The parts of an address: `postgresql://user:password@host:5432/name?sslmode=require`. `from` names where it
 * stands. Throws CONFIG_INVALID, which never shows the address.
 */
export function addressOf(address: string, engine: DatabaseEngine, from: string): TargetFields {
  try {
    if (!schemesOf[engine].test(address)) throw new Error('another scheme');
    // URL takes an empty host only where there is no user.
    const url = new URL(address.trim().replace(/^\w[^:]*:\/\/([^/?#]*@)?(?=[:/?#]|$)/, `$&${nowhere}`));
    if (url.hostname === '') throw new Error('no // after the scheme');
    const option = (...names: string[]) => names.map((name) => url.searchParams.get(name)).find(Boolean);
    const host = decodeURIComponent(url.hostname)
      .replace(nowhere, '')
      .replace(/^\[(.+)\]$/, '$1');
    return withoutBlanks({
      host: option('host', 'socket', 'unix_socket') ?? host,
      port: url.port,
      user: decodeURIComponent(url.username),
      password: decodeURIComponent(url.password),
      database: decodeURIComponent(url.pathname.slice(1)),
      sslmode: option('sslmode', 'ssl-mode', 'ssl_mode'),
      sslrootcert: option('sslrootcert', 'ssl-ca', 'ssl_ca'),
    });
  } catch {
    // Whatever is wrong with it, its words would show the password.
    throw new ToolcribError(
      'CONFIG_INVALID',
      `${from}: is not the address of a ${engine} database.`,
      `Expected ${engine}://user@host:${engine === 'mysql' ? 3306 : 5432}/name.`,
    );
  }
}

/** Leaves out what is empty: it hides nothing that is said elsewhere. */
export const withoutBlanks = (said: Readonly<Record<string, string | null | undefined>>) =>
  Object.fromEntries(Object.entries(said).filter((entry): entry is [string, string] => Boolean(entry[1])));

/**
 * A kind by its name of PostgreSQL (`verify-full`) or MySQL (`VERIFY_IDENTITY`). An unknown one is the
 * strongest.
 */
function protectionOf(name: string): Protection {
  if (/^disabled?$/i.test(name)) return 'disable';
  if (/^(?:allow|prefer|preferred)$/i.test(name)) return 'prefer';
  if (/^required?$/i.test(name)) return 'require';
  return /^verify[-_]ca$/i.test(name) ? 'verify-ca' : 'verify-full';
}
