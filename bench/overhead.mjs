// npm run bench:overhead: what policy, audit, jobs, masking and the output store cost a call of git_status. The same server is
// built without them, and both are called in turn. RUNS=201 sets the rounds.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { median, ms, ratio, startServer } from './measure.mjs';
import { makeWorkspace } from './workspace.mjs';

const runs = Number(process.env.RUNS ?? 201);
const root = fileURLToPath(new URL('..', import.meta.url));
const temporary = mkdtempSync(join(tmpdir(), 'toolcrib-overhead-'));
const bare = join(temporary, 'bare');
// Beside node_modules, where the packed program looks for ripgrep.
execFileSync(
  process.execPath,
  ['scripts/build.mjs', '--out', bare, '--replace', 'src/server/calls.ts=bench/bare-calls.ts'],
  { cwd: root, stdio: 'inherit' },
);

function smallRepository() {
  const folder = mkdtempSync(join(temporary, 'small-'));
  const git = (...args) => execFileSync('git', args, { cwd: folder, stdio: 'ignore' });
  git('init');
  for (let index = 0; index < 20; index++) writeFileSync(join(folder, `${index}.txt`), 'text\n');
  git('add', '.');
  git('-c', 'user.name=a', '-c', 'user.email=a@b', 'commit', '-m', 'first');
  return folder;
}

async function measure(name, folder) {
  const start = (dist) =>
    startServer(process.execPath, [join(dist, 'toolcrib.cjs'), 'serve', '--root', folder], {
      env: {
        ...process.env,
        XDG_STATE_HOME: join(temporary, 'state'),
        XDG_CACHE_HOME: join(temporary, 'cache'),
      },
    });
  const servers = { bare: start(bare), whole: start(join(root, 'dist')) };
  const times = { bare: [], whole: [] };
  for (const server of Object.values(servers)) await server.initialize();
  for (let round = -20; round < runs; round++) {
    // Whichever comes first finds the caches of the other.
    const order = round % 2 === 0 ? ['bare', 'whole'] : ['whole', 'bare'];
    for (const which of order) {
      const startedAt = performance.now();
      const { result } = await servers[which].ask('tools/call', { name: 'git_status', arguments: {} });
      if (result?.isError !== undefined || !result) throw new Error(JSON.stringify(result));
      if (round >= 0) times[which].push(performance.now() - startedAt);
    }
  }
  for (const server of Object.values(servers)) await server.stop();
  const [without, whole] = [median(times.bare), median(times.whole)];
  console.log(`${name}: ${ms(without)} without, ${ms(whole)} with: ${ratio(whole, without)} (at most 1.05x)`);
}

try {
  await measure('git_status, 20 files', smallRepository());
  const large = makeWorkspace();
  await measure('git_status, 20,000 files', large);
  rmSync(large, { recursive: true, force: true });
} finally {
  rmSync(temporary, { recursive: true, force: true });
}
