import { execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, openSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { until } from '../support/until.ts';

export interface Engine {
  env: Record<string, string>;
  end(): Promise<void>;
}

/**
 * An engine of its own on a socket in a temporary folder, with one image, box:1, which is busybox. It has no network of
 * its own, and whatever it makes is gone with it.
 */
export async function startEngine(kind: 'docker' | 'podman'): Promise<Engine> {
  // Podman takes no folder with a name of over 50 characters.
  const folder = mkdtempSync(`/tmp/toolcrib-${kind}-`);
  const at = (name: string) => join(folder, name);
  const socket = `unix://${at('s')}`;
  const [program, ...args] = kind === 'docker' ? dockerEngine(at, socket) : podmanEngine(at, socket);
  const log = openSync(at('log'), 'w');
  const own = { ...process.env, ...(kind === 'podman' && { CONTAINERS_CONF: at('containers.conf') }) };
  const engine = spawn(program!, args, { stdio: ['ignore', log, log], env: own });
  const ended = new Promise<void>((resolve) => engine.once('exit', () => resolve()));
  const env = { [kind === 'docker' ? 'DOCKER_HOST' : 'CONTAINER_HOST']: socket };
  const client = (...words: string[]) =>
    execFileSync(kind, words, { env: { ...process.env, ...env }, stdio: 'ignore' });
  await until(() => existsSync(at('s')));
  client('import', boxIn(folder), 'box:1');
  return {
    env,
    async end() {
      engine.kill('SIGTERM');
      await ended;
      // What it has mounted is not ours to delete: the folder is temporary, and stays.
    },
  };
}

const dockerEngine = (at: (name: string) => string, socket: string) => [
  existsSync('/usr/sbin/dockerd') ? '/usr/sbin/dockerd' : 'dockerd',
  '--storage-driver=vfs',
  '--iptables=false',
  '--ip6tables=false',
  '--bridge=none',
  `--data-root=${at('data')}`,
  `--exec-root=${at('exec')}`,
  `--pidfile=${at('pid')}`,
  `--host=${socket}`,
];

function podmanEngine(at: (name: string) => string, socket: string): string[] {
  writeFileSync(
    at('containers.conf'),
    // What a container inside a container may not raise is said; runc knows cgroups of both kinds at once.
    '[containers]\ndefault_ulimits = ["nofile=1024:1024", "nproc=1024:1024"]\nnetns = "host"\n' +
      '[engine]\ncgroup_manager = "cgroupfs"\nevents_logger = "file"\nruntime = "runc"\n',
  );
  const folders = [`--root=${at('data')}`, `--runroot=${at('run')}`, '--storage-driver=vfs'];
  return ['podman', ...folders, 'system', 'service', '--time=0', socket];
}

/** A root file system with busybox and a shell, as an archive. */
function boxIn(folder: string): string {
  const bin = join(folder, 'box', 'bin');
  mkdirSync(bin, { recursive: true });
  execFileSync('cp', ['/bin/busybox', bin]);
  for (const name of ['sh', 'ls', 'echo', 'sleep', 'env']) symlinkSync('busybox', join(bin, name));
  execFileSync('tar', ['-C', dirname(bin), '-cf', join(folder, 'box.tar'), '.']);
  return join(folder, 'box.tar');
}
