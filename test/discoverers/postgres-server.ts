import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { serverHome, someoneElse } from './database-folder.ts';

export interface Server {
  folder: string;
  env: Record<string, string>;
  /** What a superuser is answered, as text. */
  ask(sql: string): string;
  stop(): void;
}

/** Where `initdb` is, if a PostgreSQL server is installed that can be run here. */
export function serverFolder(): string | undefined {
  if (process.platform === 'win32') return undefined;
  const packaged = '/usr/lib/postgresql';
  const versions = existsSync(packaged)
    ? readdirSync(packaged).map((version) => join(packaged, version, 'bin'))
    : [];
  const folders = [...(process.env['PATH'] ?? '').split(delimiter), ...versions];
  return folders.find((folder) =>
    ['initdb', 'pg_ctl', 'psql'].every((program) => existsSync(join(folder, program))),
  );
}

/** A server of its own, on a socket in a temporary folder and on no port. */
export function startServer(setup: string): Server {
  const bin = serverFolder()!;
  const who = someoneElse();
  const folder = serverHome('toolcrib-pg-', who);
  const data = join(folder, 'data');
  const run = (program: string, args: string[]) => {
    const env = { PATH: process.env['PATH'], LC_ALL: 'C' };
    const ended = spawnSync(join(bin, program), args, {
      cwd: folder,
      env,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
      ...who,
    });
    if (ended.status !== 0) throw new Error(`${program}: ${ended.stderr}${ended.stdout}`);
    return ended.stdout.trim();
  };
  run('initdb', ['-D', data, '-A', 'trust', '-U', 'postgres', '-E', 'UTF8', '--no-sync']);
  // One role has to give a password; the others are believed.
  const rules = join(data, 'pg_hba.conf');
  writeFileSync(rules, `local all locked scram-sha-256\n${readFileSync(rules, 'utf8')}`);
  const settings = `-c listen_addresses= -c unix_socket_directories=${folder} -c fsync=off`;
  run('pg_ctl', ['-D', data, '-o', settings, '-l', join(folder, 'log'), '-w', 'start']);
  const ask = (sql: string) =>
    run('psql', [...'-XqtA -U postgres -d postgres -v ON_ERROR_STOP=1 -h'.split(' '), folder, '-c', sql]);
  ask(setup);
  return {
    folder,
    env: { PGHOST: folder, PGUSER: 'postgres' },
    ask,
    stop: () => {
      run('pg_ctl', ['-D', data, '-m', 'immediate', '-w', 'stop']);
    },
  };
}
