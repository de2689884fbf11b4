import { existsSync } from 'node:fs';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { onlySaid, portOf, protectionOf, type Protection, type Said } from './address.ts';
import { readOptions, type Sections } from './option-file.ts';
import type { Completed } from './postgres-defaults.ts';
import type { DatabaseServices } from './target.ts';

type Host = DatabaseServices['host'];

/** Where packages put the server's socket: Debian, Red Hat; then MySQL's own choice. */
const sockets = [
  '/run/mysqld/mysqld.sock',
  '/var/run/mysqld/mysqld.sock',
  '/var/lib/mysql/mysql.sock',
  '/tmp/mysql.sock',
];

/** The sections of option files that the client reads, the later over the earlier. */
const sections = ['client', 'client-server', 'client-mariadb', 'mysql', 'mariadb-client'];

/**
 * Completes what is said about a connection to MySQL or MariaDB as their client does: by the MYSQL_* variables,
 * ~/.my.cnf and the local socket.
 */
export async function mysqlDefaults(said: Said, { env, home, platform }: Host): Promise<Completed> {
  const file = fromFile(await readOptions(join(home, '.my.cnf')));
  const variables = fromVariables(env);
  const all: Said = { ...variables, ...file, ...said };
  // A port that was given means a connection by port; a host, as the client has it, only when it is not localhost.
  const local = all.host === undefined || (all.host === 'localhost' && said.port === undefined);
  const host = local ? localServer(env['MYSQL_UNIX_PORT'], platform) : (all.host ?? '127.0.0.1');
  return {
    target: {
      ...all,
      host,
      port: all.port ?? 3306,
      user: all.user ?? userInfo().username,
      protection: host.startsWith('/') ? 'disable' : (all.protection ?? 'prefer'),
    },
    from:
      file.host !== undefined || file.user !== undefined
        ? '~/.my.cnf'
        : variables.host === undefined
          ? 'the defaults of MySQL'
          : 'MYSQL_HOST',
  };
}

const fromVariables = (env: Host['env']): Said =>
  onlySaid({
    host: env['MYSQL_HOST'],
    port: portOf(env['MYSQL_TCP_PORT']),
    password: env['MYSQL_PWD'],
  });

function fromFile(file: Sections): Said {
  const merged = new Map(sections.flatMap((section) => [...(file.get(section) ?? [])]));
  const value = (name: string) => unquoted(merged.get(name));
  return onlySaid({
    host: value('socket') ?? value('host'),
    port: portOf(value('port')),
    user: value('user'),
    password: value('password'),
    database: value('database'),
    protection: protectionOf(value('ssl-mode')) ?? protectionOfSwitches(merged),
    authorities: value('ssl-ca'),
    certificate: value('ssl-cert'),
    key: value('ssl-key'),
  });
}

/** MariaDB's way of saying it. */
function protectionOfSwitches(file: ReadonlyMap<string, string>): Protection | undefined {
  const isOn = (name: string) => file.has(name) && !/^(?:0|off|false)$/i.test(file.get(name) ?? '');
  if (isOn('ssl-verify-server-cert')) return 'verify-full';
  if (isOn('ssl')) return 'require';
  return file.has('skip-ssl') ? 'disable' : undefined;
}

/** A value of an option file without the quotes around it; in it, `\` begins an escape. */
function unquoted(value: string | undefined): string | undefined {
  const inside = /^(["'])(.*)\1$/s.exec(value ?? '')?.[2] ?? value;
  const escapes: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r', b: '\b', s: ' ' };
  return inside?.replaceAll(/\\(.)/gs, (whole, character: string) =>
    /[\\"'ntrbs]/.test(character) ? (escapes[character] ?? character) : whole,
  );
}

function localServer(socket: string | undefined, platform: Host['platform']): string {
  if (platform === 'win32') return '127.0.0.1';
  return socket || (sockets.find((path) => existsSync(path)) ?? '127.0.0.1');
}
