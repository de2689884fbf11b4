// npm run bench:peers: servers that others make, beside this one: from start to the list of tools, what the list costs,
// memory, and what is installed. RUNS=7 sets the rounds, in turn.
import { execFileSync } from 'node:child_process';
import { existsSync, lstatSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { encode } from 'gpt-tokenizer/encoding/o200k_base';
import { median, ms, peakMemory, startServer } from './measure.mjs';

const runs = Number(process.env.RUNS ?? 7);
const root = fileURLToPath(new URL('..', import.meta.url));
const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'));
const folder = mkdtempSync(join(tmpdir(), 'toolcrib-peers-'));
const project = join(folder, 'project');
mkdirSync(project);
for (const name of ['CONFIG', 'STATE', 'CACHE']) process.env[`XDG_${name}_HOME`] = join(folder, name);

// A shell that takes its time would be measured instead, where nothing is cached.
process.env.SHELL = '/nowhere';

const of = (name, file, ...args) => ({ name, start: [join(root, 'node_modules', name, file), ...args] });
const servers = [
  { name: 'toolcrib', start: [join(root, 'dist/toolcrib.cjs'), 'serve', '--root', project] },
  of('@modelcontextprotocol/server-filesystem', 'dist/index.js', project),
  of('@modelcontextprotocol/server-memory', 'dist/index.js'),
  of('@modelcontextprotocol/server-everything', 'dist/index.js'),
  of('@playwright/mcp', 'cli.js'),
];

/** `stays` ms are waited at its end: what a server answers from memory is written then. */
async function session(start, stays) {
  const startedAt = performance.now();
  const server = startServer(process.execPath, start, { cwd: project });
  await server.initialize();
  const { result } = await server.ask('tools/list', {});
  const [time, memory] = [performance.now() - startedAt, peakMemory(server.child.pid)];
  await new Promise((resolve) => setTimeout(resolve, stays));
  await server.stop();
  return { time, memory, tools: result.tools };
}

/** The packages that come with one, by their paths in node_modules: what it depends on, as npm has placed it. */
function installed(path, found = new Set()) {
  const { dependencies = {}, optionalDependencies = {}, peerDependencies = {} } = packages[path];
  for (const name of Object.keys({ ...dependencies, ...optionalDependencies, ...peerDependencies })) {
    let above = path;
    let place = join(above, 'node_modules', name);
    while (!packages[place] && above !== '') {
      above = above.includes('/node_modules/') ? above.slice(0, above.lastIndexOf('/node_modules/')) : '';
      place = join(above, 'node_modules', name);
    }
    if (!packages[place] || found.has(place) || !existsSync(join(root, place))) continue;
    found.add(place);
    installed(place, found);
  }
  return found;
}

function bytesIn(path) {
  const facts = lstatSync(path);
  if (!facts.isDirectory()) return facts.size;
  return readdirSync(path).reduce(
    (sum, name) => sum + (name === 'node_modules' ? 0 : bytesIn(join(path, name))),
    0,
  );
}

function weight(name) {
  const own = name === 'toolcrib' ? '' : `node_modules/${name}`;
  const others = [...installed(own)];
  const ownBytes = own === '' ? packedBytes() : bytesIn(join(root, own));
  const bytes = others.reduce((sum, path) => sum + bytesIn(join(root, path)), ownBytes);
  return { packages: others.length + 1, megabytes: (bytes / 1e6).toFixed(1) };
}

function packedBytes() {
  const npm = process.platform === 'win32' ? 'npm.cmd' : 'npm';
  const said = execFileSync(npm, ['pack', '--dry-run', '--json', '--ignore-scripts'], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'ignore'],
    shell: process.platform === 'win32',
  });
  return JSON.parse(said)[0].unpackedSize;
}

const rounds = servers.map(() => []);
// The first fill caches: of whoever has some, with what it compiles and what it answers.
for (const { start } of servers) for (let run = 0; run < 2; run++) await session(start, 5000);
for (let round = 0; round < runs; round++)
  for (const [at, { start }] of servers.entries()) rounds[at].push(await session(start, 0));
for (const [at, { name }] of servers.entries()) {
  const times = rounds[at].map(({ time }) => time);
  const [{ tools }] = rounds[at];
  const memory = median(rounds[at].map((round) => round.memory ?? NaN));
  const visible = tools.map((tool) => [tool.name, tool.description, tool.inputSchema]);
  const tokens = encode(JSON.stringify(visible)).length;
  const { packages: many, megabytes } = weight(name);
  const spread = `${ms(Math.min(...times))} to ${ms(Math.max(...times))}`;
  console.log(`${name}: list after ${ms(median(times))} (${spread}), ${memory.toFixed(0)} MB`);
  console.log(`  ${tools.length} tools, ${tokens} tokens; installs ${many} packages, ${megabytes} MB`);
}
rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
