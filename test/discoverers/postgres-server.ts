import { spawnSync } from 'node:child_process';
import { chownSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';

export interface Server {
  folder: string;
  env: Record<string, string>;
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
  const folder = mkdtempSync(join(tmpdir(), 'toolcrib-pg-'));
  const who = someoneElse();
  if (who) chownSync(folder, who.uid, who.gid);
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
  };
  run('initdb', ['-D', data, '-A', 'trust', '-U', 'postgres', '-E', 'UTF8', '--no-sync']);
  const settings = `-c listen_addresses= -c unix_socket_directories=${folder} -c fsync=off`;
  run('pg_ctl', ['-D', data, '-o', settings, '-l', join(folder, 'log'), '-w', 'start']);
  run('psql', ['-X', '-q', '-h', folder, '-U', 'postgres', '-v', 'ON_ERROR_STOP=1', '-c', setup]);
  return {
    folder,
    env: { PGHOST: folder, PGUSER: 'postgres' },
    stop() {
      run('pg_ctl', ['-D', data, '-m', 'immediate', '-w', 'stop']);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** PostgreSQL refuses to run as root, so root runs it as nobody. */
function someoneElse(): { uid: number; gid: number } | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const id = (option: string) => Number(spawnSync('id', [option, 'nobody'], { encoding: 'utf8' }).stdout);
  return { uid: id('-u'), gid: id('-g') };
}
