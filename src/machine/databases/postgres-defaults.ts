import { existsSync } from 'node:fs';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { onlySaid, portOf, protectionOf, type Said } from './address.ts';
import { readOptions } from './option-file.ts';
import { passwordFrom } from './password-file.ts';
import type { DatabaseServices, Target } from './target.ts';

type Host = DatabaseServices['host'];

/** A connection that lacks nothing. */
export type Completed = {
  readonly target: Omit<Target, 'engine' | 'from' | 'secrets'>;
  /** Where the server was found named, for people. */
  readonly from: string;
};

/** Where packages put the server's socket: Debian, Red Hat; then PostgreSQL's own choice. */
const socketFolders = ['/var/run/postgresql', '/run/postgresql', '/tmp'];

/**
 * Completes what is said about a PostgreSQL connection as libpq does: by the service that PGSERVICE names, the other PG*
 * variables, the local socket, and the password file.
 */
export async function postgresDefaults(said: Said, host: Host): Promise<Completed> {
  const { env, home, platform } = host;
  const all: Said = { ...fromVariables(env), ...(await fromService(host)), ...said };
  const port = all.port ?? 5432;
  const usual = all.host === undefined;
  const server = all.host ?? localServer(port, platform);
  const user = all.user ?? userInfo().username;
  const database = all.database ?? user;
  const file = (name: string) => ifThere(join(home, '.postgresql', name));
  const login = { host: usual || server.startsWith('/') ? 'localhost' : server, port, database, user };
  return {
    target: {
      ...all,
      host: server,
      port,
      user,
      database,
      password: all.password ?? (await passwordFrom(passwordFile(host), login, platform !== 'win32')),
      protection: server.startsWith('/') ? 'disable' : (all.protection ?? 'prefer'),
      authorities: all.authorities ?? file('root.crt'),
      certificate: all.certificate ?? file('postgresql.crt'),
      key: all.key ?? file('postgresql.key'),
    },
    from: env['PGSERVICE'] ? 'PGSERVICE' : env['PGHOST'] ? 'PGHOST' : 'the defaults of PostgreSQL',
  };
}

const fromVariables = (env: Host['env']): Said =>
  onlySaid({
    // libpq would try each of several hosts; the first is the one that is meant.
    host: env['PGHOST']?.split(',')[0],
    port: portOf(env['PGPORT']?.split(',')[0]),
    user: env['PGUSER'],
    password: env['PGPASSWORD'],
    database: env['PGDATABASE'],
    protection: protectionOf(env['PGSSLMODE']),
    authorities: env['PGSSLROOTCERT'],
    certificate: env['PGSSLCERT'],
    key: env['PGSSLKEY'],
  });

async function fromService({ env, home }: Host): Promise<Said> {
  const name = env['PGSERVICE'];
  if (!name) return {};
  const files = [
    env['PGSERVICEFILE'] ?? join(home, '.pg_service.conf'),
    env['PGSYSCONFDIR'] && join(env['PGSYSCONFDIR'], 'pg_service.conf'),
    '/etc/postgresql-common/pg_service.conf',
  ];
  for (const file of files) {
    const service = file && (await readOptions(file)).get(name);
    if (!service) continue;
    return onlySaid({
      host: service.get('host')?.split(',')[0],
      port: portOf(service.get('port')?.split(',')[0]),
      user: service.get('user'),
      password: service.get('password'),
      database: service.get('dbname'),
      protection: protectionOf(service.get('sslmode')),
      authorities: service.get('sslrootcert'),
      certificate: service.get('sslcert'),
      key: service.get('sslkey'),
    });
  }
  return {};
}

function localServer(port: number, platform: Host['platform']): string {
  if (platform === 'win32') return 'localhost';
  return socketFolders.find((folder) => existsSync(join(folder, `.s.PGSQL.${port}`))) ?? 'localhost';
}

function passwordFile({ env, home, platform }: Host): string {
  const own =
    platform === 'win32' ? join(env['APPDATA'] ?? home, 'postgresql', 'pgpass.conf') : join(home, '.pgpass');
  return env['PGPASSFILE'] || own;
}

const ifThere = (path: string): string | undefined => (existsSync(path) ? path : undefined);
