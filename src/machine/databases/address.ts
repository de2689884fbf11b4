import type { DatabaseEngine } from '../../core/discoverer.ts';
import { ToolcribError } from '../../core/errors.ts';
import { protectionOf, type Protection } from './encryption.ts';

/** What is said about a connection, in an address or in variables. */
export interface Said {
  /** A name or number of a host; or an absolute path: the folder (PostgreSQL) or file (MySQL) of a socket. */
  readonly host?: string;
  readonly port?: number;
  readonly user?: string;
  readonly password?: string;
  readonly database?: string;
  readonly protection?: Protection;
  /** The path of a file with the authorities that are trusted. */
  readonly authorities?: string;
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

/** What an address may say after its question mark, by the names of PostgreSQL, MySQL and their libraries. */
const options: Readonly<Record<keyof Said, readonly string[]>> = {
  host: ['host', 'socket', 'socketPath', 'unix_socket'],
  port: ['port'],
  user: ['user'],
  password: ['password'],
  database: ['dbname'],
  protection: ['sslmode', 'ssl-mode', 'ssl_mode'],
  authorities: ['sslrootcert', 'ssl-ca', 'ssl_ca'],
};

/**
 * What an address says: `postgresql://user:password@host:5432/name?sslmode=require`. `from` names where it stands.
 * Throws CONFIG_INVALID, which never shows the address.
 */
export function addressOf(address: string, engine: DatabaseEngine, from: string): Said {
  try {
    if (!schemesOf[engine].test(address)) throw new Error('another scheme');
    // URL takes an empty host only where there is no user.
    const url = new URL(address.replace(/^[^:]+:\/\/([^/?#]*@)?(?=[:/?#]|$)/, (start) => start + nowhere));
    const host = decodeURIComponent(url.hostname).replace(/^\[(.+)\]$/, '$1');
    const parts: Partial<Record<keyof Said, string>> = {
      host: host === nowhere ? '' : host,
      port: url.port,
      user: decodeURIComponent(url.username),
      password: decodeURIComponent(url.password),
      database: decodeURIComponent(url.pathname.slice(1)),
    };
    const option = (part: keyof Said) =>
      options[part].map((name) => url.searchParams.get(name)).find((value) => value !== null);
    return saidBy((part) => option(part) ?? parts[part]);
  } catch {
    // Whatever is wrong with it, its words would show the password.
    throw new ToolcribError(
      'CONFIG_INVALID',
      `${from}: is not the address of a ${engine} database.`,
      `Expected ${engine}://user@host:${engine === 'mysql' ? 3306 : 5432}/name.`,
    );
  }
}

/** A host of this name means that none was given. */
const nowhere = 'no-host.invalid';

/** All that a source says about the parts of a connection; what is empty there hides nothing that is said elsewhere. */
export function saidBy(textOf: (part: keyof Said) => string | undefined): Said {
  const texts = Object.keys(options).map((part) => [part, textOf(part as keyof Said)] as const);
  const said = Object.fromEntries(texts.filter(([, text]) => text !== undefined && text !== ''));
  const { port, protection, ...rest } = said as Partial<Record<keyof Said, string>>;
  const number = Number(port);
  const isPort = Number.isInteger(number) && number > 0 && number < 65_536;
  return {
    ...rest,
    ...(isPort && { port: number }),
    ...(protection !== undefined && { protection: protectionOf(protection) }),
  };
}
