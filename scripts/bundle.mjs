// npm run bundle: toolcrib-VERSION-PLATFORM.mcpb, which hosts with extensions install by a click. It holds the ripgrep of this
// platform alone. Needs zip, or on Windows the tar that Windows has.
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, licensesWith } from './licenses.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const { name, version, description, homepage, repository, license, engines } = JSON.parse(
  readFileSync(join(root, 'package.json'), 'utf8'),
);
const { platform, arch } = process;
const folder = join(root, '.tmp', 'bundle');
const file = join(root, `${name}-${version}-${platform}-${arch}.mcpb`);
const manifest = {
  manifest_version: '0.3',
  name,
  version,
  description,
  author: { name: `The ${name} contributors` },
  repository,
  homepage,
  license,
  server: {
    type: 'node',
    entry_point: 'dist/toolcrib.cjs',
    mcp_config: {
      command: 'node',
      args: [
        '${__dirname}/dist/toolcrib.cjs',
        'serve',
        '--questions',
        'host',
        '--root',
        '${user_config.folder}',
      ],
    },
  },
  tools_generated: true,
  compatibility: { platforms: [platform], runtimes: { node: engines.node } },
  user_config: {
    folder: {
      type: 'directory',
      title: 'Project folder',
      description: 'The folder that a model may use',
      required: true,
    },
  },
};

rmSync(folder, { recursive: true, force: true });
rmSync(file, { force: true });
mkdirSync(folder, { recursive: true });
writeFileSync(join(folder, 'manifest.json'), `${JSON.stringify(manifest, null, 2)}\n`);
writeFileSync(join(folder, 'package.json'), `${JSON.stringify({ name, version, private: true })}\n`);
for (const part of ['dist', 'LICENSE', 'node_modules/@vscode'])
  if (existsSync(join(root, part))) cpSync(join(root, part), join(folder, part), { recursive: true });
// Of what lies beside ripgrep, none is its own licence.
writeFileSync(
  join(folder, 'THIRD-PARTY-LICENSES.md'),
  licensesWith(root, [describe(join(root, 'node_modules/ripgrep'), 'ripgrep')]),
);
// That tar makes a zip of what is called one.
const made = `${file}.zip`;
if (platform === 'win32')
  execFileSync('tar', ['-a', '-c', '-f', made, '.'], { cwd: folder, stdio: 'inherit' });
else execFileSync('zip', ['-q', '-r', '-X', made, '.'], { cwd: folder, stdio: 'inherit' });
renameSync(made, file);
rmSync(folder, { recursive: true });
console.log(file);
