import type { DatabaseEngine } from '../../core/discoverer.ts';
import { ToolcribError } from '../../core/errors.ts';

/**
 * What an address or variables say about a connection. A host can be a path, of the folder (PostgreSQL) or file (MySQL)
 * of a socket; `sslrootcert` is the path of a file with the authorities that are trusted.
 */
export type Stated = Readonly<Partial<Record<Part, string>>>;
type Part = 'host' | 'port' | 'user' | 'password' | 'database' | 'sslmode' | 'sslrootcert';

/** How addresses begin, also as SQLAlchemy and Rails write them, and nearly so: what is mistyped is meant. */
export const schemesOf: Readonly<Record<DatabaseEngine, RegExp>> = {
  postgresql: /^\s*postg\w*(?:\+\w+)?:/i,
  mysql: /^\s*(?:my|maria)\w*(?:\+\w+)?:/i,
};

/** A host of this name means that none was given. */
const nowhere = 'no-host.invalid';

/**
 * What an address says: `postgresql://user:password@host:5432/name?sslmode=require`. `from` names where it stands.
 * Throws CONFIG_INVALID, which never shows the address.
 */
export function addressOf(address: string, engine: DatabaseEngine, from: string): Stated {
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

/** What is empty hides nothing that is said elsewhere. */
export const withoutBlanks = (stated: Partial<Record<Part, string | null | undefined>>): Stated =>
  Object.fromEntries(Object.entries(stated).filter(([, text]) => text));
