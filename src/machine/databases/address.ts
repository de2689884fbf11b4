import type { DatabaseEngine } from '../../core/discoverer.ts';
import { ToolcribError } from '../../core/errors.ts';

/**
 * How much a connection is protected, from less to more. `prefer`: encrypted where the server can; `verify-ca`: by a
 * certificate of an authority that is trusted; `verify-full`: and made out to this host.
 */
export const protections = ['disable', 'prefer', 'require', 'verify-ca', 'verify-full'] as const;
export type Protection = (typeof protections)[number];

/** What is said about a connection somewhere: in an address, in variables, in a file. */
export interface Said {
  /** A name or number of a host; or an absolute path: the folder (PostgreSQL) or file (MySQL) of a socket. */
  host?: string | undefined;
  port?: number | undefined;
  user?: string | undefined;
  password?: string | undefined;
  database?: string | undefined;
  protection?: Protection | undefined;
  /** Paths of files: the authorities that are trusted, and the certificate and key to show. */
  authorities?: string | undefined;
  certificate?: string | undefined;
  key?: string | undefined;
}

/** How addresses of an engine begin; also as SQLAlchemy and Rails write them: postgresql+psycopg2, mysql2. */
export const schemesOf: Readonly<Record<DatabaseEngine, RegExp>> = {
  postgresql: /^postgres(?:ql)?(?:\+\w+)?:\/\//i,
  mysql: /^(?:mysql2?|mariadb)(?:\+\w+)?:\/\//i,
};

/** Addresses of databases that are asked in another way, or not at all. */
const otherDatabase = /^(?:sqlite3?|file|mongodb|rediss?|mssql|sqlserver|oracle)(?:\+\w+)?:/i;

/** Whether this begins like the address of a database of any kind that is known. Pure. */
export const isDatabase = (address: string): boolean =>
  otherDatabase.test(address) || Object.values(schemesOf).some((scheme) => scheme.test(address));

/**
 * What an address says: `postgresql://user:password@host:5432/name?sslmode=require`. `from` names where it stands.
 * Throws CONFIG_INVALID, which never shows the address.
 */
export function addressOf(address: string, engine: DatabaseEngine, from: string): Said {
  const url = parsed(address, engine);
  if (!url) {
    throw new ToolcribError(
      'CONFIG_INVALID',
      `${from}: is not the address of a ${engine} database.`,
      `Expected ${engine}://user@host:${engine === 'mysql' ? 3306 : 5432}/name.`,
    );
  }
  const option = (...names: string[]) =>
    names.map((name) => url.searchParams.get(name) ?? undefined).find((value) => value !== undefined);
  const host = decodeURIComponent(url.hostname).replace(/^\[(.+)\]$/, '$1');
  return onlySaid({
    host: option('host', 'socket', 'socketPath', 'unix_socket') ?? (host === nowhere ? undefined : host),
    port: portOf(option('port') ?? url.port),
    user: option('user') ?? decodeURIComponent(url.username),
    password: option('password') ?? decodeURIComponent(url.password),
    database: option('dbname') ?? decodeURIComponent(url.pathname.slice(1)),
    protection: protectionOf(option('sslmode', 'ssl-mode', 'ssl_mode')),
    authorities: option('sslrootcert', 'ssl-ca', 'ssl_ca'),
    certificate: option('sslcert', 'ssl-cert', 'ssl_cert'),
    key: option('sslkey', 'ssl-key', 'ssl_key'),
  });
}

/** A host of this name means that none was given. */
const nowhere = 'no-host.invalid';

function parsed(address: string, engine: DatabaseEngine): URL | undefined {
  if (!schemesOf[engine].test(address)) return undefined;
  // URL takes an empty host only where there is no user.
  const whole = address.replace(/^[^:]+:\/\/([^/?#]*@)?(?=[:/?#]|$)/, (start) => start + nowhere);
  try {
    const url = new URL(whole);
    // Throws for what is not encoded well.
    decodeURIComponent(url.username + url.password + url.pathname + url.hostname);
    return url;
  } catch {
    return undefined;
  }
}

/** Without what is empty or not there, so that it does not hide what is said elsewhere. */
export const onlySaid = (said: Said): Said =>
  Object.fromEntries(Object.entries(said).filter(([, value]) => value !== undefined && value !== ''));

/** A port of a TCP connection; undefined for what is none. */
export function portOf(text: string | undefined): number | undefined {
  const port = Number(text);
  return text !== undefined && Number.isInteger(port) && port > 0 && port < 65_536 ? port : undefined;
}

/** What PostgreSQL (`verify-full`) and MySQL (`VERIFY_IDENTITY`) call the kinds of protection. */
const protectionNames: Readonly<Record<string, Protection>> = {
  ...Object.fromEntries(protections.map((name) => [name, name])),
  allow: 'prefer',
  disabled: 'disable',
  preferred: 'prefer',
  required: 'require',
  'verify-identity': 'verify-full',
};

/** A kind of protection by either name. One that is not known is taken for the strongest, never for less. */
export function protectionOf(name: string | undefined): Protection | undefined {
  if (name === undefined || name === '') return undefined;
  return protectionNames[name.toLowerCase().replaceAll('_', '-')] ?? 'verify-full';
}
