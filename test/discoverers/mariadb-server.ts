import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, chownSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { serverHome, someoneElse } from './database-folder.ts';
import { until } from '../support/until.ts';

export interface Server {
  folder: string;
  socket: string;
  /** What root is answered, as text. */
  ask(sql: string): string;
  stop(): Promise<void>;
}

const folders = [...(process.env['PATH'] ?? '').split(delimiter), '/usr/sbin', '/usr/bin', '/usr/local/bin'];
const pathOf = (name: string): string | undefined =>
  folders.map((folder) => join(folder, name)).find((path) => existsSync(path));

/** Whether a MariaDB server is installed that can be run here. */
export const hasMariadb = (): boolean =>
  process.platform !== 'win32' &&
  ['mariadbd', 'mariadb-install-db', 'mariadb'].every((name) => pathOf(name) !== undefined);

/** A server of its own, on a socket in a temporary folder and on no port; root has no password. */
export async function startMariadb(setup: string): Promise<Server> {
  const who = someoneElse();
  const folder = serverHome('toolcrib-maria-', who);
  const data = join(folder, 'data');
  const files = join(folder, 'files');
  const socket = join(folder, 's.sock');
  mkdirSync(files);
  if (who) chownSync(files, who.uid, who.gid);
  const env = { PATH: folders.join(delimiter), LC_ALL: 'C', TMPDIR: folder };
  const run = (name: string, args: string[], rest: object) => {
    const ended = spawnSync(pathOf(name)!, args, { cwd: folder, env, encoding: 'utf8', ...rest });
    return ended.status === 0 ? undefined : `${name}: ${ended.stderr}${ended.stdout}`;
  };
  const plain = '--auth-root-authentication-method=normal --skip-test-db --skip-name-resolve'.split(' ');
  const failed = run('mariadb-install-db', ['--no-defaults', `--datadir=${data}`, ...plain], who ?? {});
  if (failed) throw new Error(failed);
  const own = [`--datadir=${data}`, `--socket=${socket}`, `--pid-file=${join(folder, 'pid')}`];
  const light = '--skip-networking --innodb-flush-log-at-trx-commit=0 --innodb-buffer-pool-size=8M'.split(
    ' ',
  );
  const options = { cwd: folder, env, stdio: 'ignore', ...who } as const;
  const server = spawn(pathOf('mariadbd')!, ['--no-defaults', ...own, ...light], options);
  const ended = new Promise<void>((resolve) => server.once('exit', () => resolve()));
  const ask = (sql: string) => {
    const args = ['--no-defaults', '--batch', `--socket=${socket}`, '--user=root', `--execute=${sql}`];
    const ended = spawnSync(pathOf('mariadb')!, args, { cwd: folder, env, encoding: 'utf8' });
    if (ended.status !== 0) throw new Error(`mariadb: ${ended.stderr}${ended.stdout}`);
    return ended.stdout;
  };
  await until(
    () =>
      existsSync(socket) &&
      run('mariadb', ['--no-defaults', `--socket=${socket}`, '--user=root', '-e', 'SELECT 1'], {}) ===
        undefined,
  );
  ask(setup);
  return {
    folder,
    socket,
    ask,
    async stop() {
      server.kill('SIGKILL');
      await ended;
    },
  };
}
