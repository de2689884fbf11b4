// npm run executable: toolcrib-VERSION-PLATFORM, one file with the Node that runs this and the ripgrep of this platform.
// Older than Node 25.5, it takes postject from npm. On macOS it is signed for this machine alone.
// It holds the licences of all of them; --node-license FILE says where that of Node is, if not beside it.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { describe, licensesWith } from './licenses.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const { name, version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const { platform, arch, execPath } = process;
const isWindows = platform === 'win32';
const output = join(root, `${name}-${version}-${platform}-${arch}${isWindows ? '.exe' : ''}`);
const folder = join(root, '.tmp', 'executable');
const packages = ['ripgrep', `ripgrep-${platform}-${arch}`].map((one) =>
  join(root, 'node_modules/@vscode', one),
);

/** The files of the package, by their paths in it. */
const assets = {};
for (const place of [join(root, 'dist'), ...packages.filter((one) => existsSync(one))])
  for (const file of readdirSync(place, { recursive: true, withFileTypes: true })) {
    const path = join(file.parentPath, file.name);
    if (file.isFile()) assets[relative(root, path).replaceAll('\\', '/')] = path;
  }
rmSync(folder, { recursive: true, force: true });
mkdirSync(folder, { recursive: true });
const licenses = join(folder, 'licenses');
writeFileSync(
  licenses,
  licensesWith(root, [
    ...packages.slice(0, 1).map((one) => describe(one)),
    describe(join(root, 'node_modules/ripgrep'), 'ripgrep'),
    nodeLicense(),
  ]),
);
assets['LICENSE'] = join(root, 'LICENSE');
assets['THIRD-PARTY-LICENSES.md'] = licenses;
const digest = createHash('sha256');
for (const path of Object.values(assets)) digest.update(readFileSync(path));

const [main, config, blob] = ['main.cjs', 'sea.json', 'blob'].map((file) => join(folder, file));
const unpacked = `${version}-${digest.digest('hex').slice(0, 16)}`;
writeFileSync(main, `(${start})(${JSON.stringify(unpacked)}, ${JSON.stringify(Object.keys(assets))});\n`);
const [major, minor] = process.versions.node.split('.').map(Number);
const isBuiltIn = major > 25 || (major === 25 && minor >= 5);
const sea = { main, output: isBuiltIn ? output : blob, assets, disableExperimentalSEAWarning: true };
writeFileSync(config, JSON.stringify(sea));
rmSync(output, { force: true });
if (isBuiltIn) execFileSync(execPath, ['--build-sea', config], { stdio: 'inherit' });
else inject();
if (platform === 'darwin') execFileSync('codesign', ['--sign', '-', output], { stdio: 'inherit' });
rmSync(folder, { recursive: true });
console.log(output);

/** The licence of the Node that runs this, which is most of the executable. */
function nodeLicense() {
  const { values } = parseArgs({ options: { 'node-license': { type: 'string' } } });
  // In an archive of Node's, beside node.exe, and where Debian has it.
  const usual = ['../LICENSE', './LICENSE'].map((place) => join(dirname(realpathSync(execPath)), place));
  const places = values['node-license']
    ? [values['node-license']]
    : [...usual, '/usr/share/doc/nodejs/copyright'];
  const file = places.find((place) => existsSync(place));
  if (file === undefined)
    throw new Error(
      `the licence of Node is not in ${places.join(', ')}: npm run executable -- --node-license FILE`,
    );
  return {
    name: 'Node.js',
    version: process.versions.node,
    license: 'MIT, and others',
    text: readFileSync(file, 'utf8').trim(),
  };
}

function inject() {
  execFileSync(execPath, ['--experimental-sea-config', config], { stdio: 'inherit' });
  copyFileSync(execPath, output);
  chmodSync(output, 0o755);
  if (platform === 'darwin') execFileSync('codesign', ['--remove-signature', output]);
  const fuse = ['--sentinel-fuse', 'NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2'];
  const segment = platform === 'darwin' ? ['--macho-segment-name', 'NODE_SEA'] : [];
  const args = ['-y', 'postject@1.0.0-alpha.6', output, 'NODE_SEA_BLOB', blob, ...fuse, ...segment];
  execFileSync(isWindows ? 'npx.cmd' : 'npx', args, {
    stdio: ['ignore', 'ignore', 'inherit'],
    shell: isWindows,
  });
}

/**
 * What the executable begins with. A single executable can load nothing but its own first file, so that the others are
 * put into the cache folder the first time. It is given its script, or `-e` and code, where Node would be.
 */
function start(unpacked, names) {
  const { createRequire } = require('node:module');
  const {
    accessSync,
    mkdirSync,
    lstatSync,
    renameSync,
    rmSync,
    writeFileSync,
    existsSync,
  } = require('node:fs');
  const { dirname, join } = require('node:path');
  const { argv, env, platform, pid } = process;
  if (argv[3] === '-e') return new Function('require', argv[4])(require);
  const cache = cacheFolder();
  const place = join(cache, unpacked);
  if (!existsSync(place)) {
    const { getRawAsset } = require('node:sea');
    const beside = `${place}.${pid}`;
    for (const name of names) {
      mkdirSync(dirname(join(beside, name)), { recursive: true, mode: 0o700 });
      writeFileSync(join(beside, name), new Uint8Array(getRawAsset(name)), { mode: 0o700 });
    }
    try {
      renameSync(beside, place);
    } catch (error) {
      // Another start was faster.
      if (!existsSync(place)) throw error;
      rmSync(beside, { recursive: true });
    }
  }
  const script = join(place, 'dist', 'toolcrib.cjs');
  // Entries of hosts name that of an older one.
  argv.splice(1, argv[2]?.startsWith(cache) ? 2 : 1, script);
  createRequire(script)(script);

  function cacheFolder() {
    const { homedir, tmpdir, userInfo } = require('node:os');
    try {
      const home = homedir();
      const usual =
        platform === 'win32' ? env.LOCALAPPDATA : platform === 'darwin' && join(home, 'Library/Caches');
      const folder = join(env.XDG_CACHE_HOME || usual || join(home, '.cache'), 'toolcrib', 'executable');
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      accessSync(folder, 2);
      return folder;
    } catch {
      // There is no home, or it cannot be written: a folder for temporary files that is this user's alone.
      const folder = join(tmpdir(), `toolcrib-executable-${process.getuid?.() ?? userInfo().username}`);
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      const { uid, mode } = lstatSync(folder);
      if (platform === 'win32' || (uid === process.getuid() && (mode & 0o170077) === 0o040000)) return folder;
      process.stderr.write(`toolcrib: ${folder} is open to others; XDG_CACHE_HOME=DIR names another one.\n`);
      process.exit(1);
    }
  }
}
