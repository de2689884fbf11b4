// npm run bench:calls: a call against the program itself, started directly, in turn, on a made workspace of 20,000 files.
import { execFileSync, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { median, ms, ratio, startServer } from './measure.mjs';

const runs = Number(process.env.RUNS ?? 51);
const program = fileURLToPath(new URL('../dist/toolcrib.cjs', import.meta.url));
const platform = `${process.platform}-${process.arch}`;
const rg = createRequire(createRequire(import.meta.url).resolve('@vscode/ripgrep')).resolve(
  `@vscode/ripgrep-${platform}/bin/rg`,
);

function makeWorkspace() {
  const folder = mkdtempSync(join(tmpdir(), 'toolcrib-bench-'));
  const words =
    'const value return import export function await result error path string number object list'.split(' ');
  let seed = 42;
  // A linear congruential generator (Numerical Recipes): the same workspace every time.
  const random = (most) => (seed = (seed * 1664525 + 1013904223) >>> 0) % most;
  for (let index = 0; index < 20_000; index++) {
    const sub = join(folder, `dir${index % 200}`, `sub${index % 7}`);
    mkdirSync(sub, { recursive: true });
    const lines = Array.from({ length: 150 }, () =>
      Array.from({ length: 10 }, () => words[random(words.length)]).join(' '),
    );
    if (index % 500 === 0) lines.push('needle in the haystack');
    writeFileSync(join(sub, `file${index}.ts`), lines.join('\n'));
  }
  const git = (...args) => execFileSync('git', args, { cwd: folder, stdio: 'ignore' });
  git('init');
  // Otherwise the commit starts a clean-up in the background, which goes on during the measurement.
  git('config', 'gc.auto', '0');
  git('config', 'maintenance.auto', 'false');
  git('add', '.');
  git('-c', 'user.name=b', '-c', 'user.email=b@b', 'commit', '-m', 'x');
  writeFileSync(join(folder, 'dir1', 'new.txt'), 'x');
  writeFileSync(join(folder, 'dir0', 'sub0', 'file0.ts'), 'changed');
  git('status');
  return folder;
}

const direct = (file, args, cwd) =>
  new Promise((resolve) => {
    const startedAt = performance.now();
    const child = spawn(file, args, { cwd, stdio: ['ignore', 'pipe', 'pipe'] });
    child.stdout.resume();
    child.once('close', () => resolve(performance.now() - startedAt));
  });

const folder = makeWorkspace();
const server = startServer(process.execPath, [program, 'serve', '--root', folder]);
try {
  await server.initialize();
  const called = async (name, given) => {
    const startedAt = performance.now();
    const { result } = await server.ask('tools/call', { name, arguments: given });
    if (result.isError) throw new Error(`${name}: ${result.content[0].text}`);
    return performance.now() - startedAt;
  };
  const cases = [
    [
      'git_status',
      'git status',
      () => called('git_status', {}),
      () => direct('git', ['status'], folder),
      1.15,
    ],
    [
      'grep',
      'rg',
      () => called('grep', { pattern: 'needle in' }),
      () => direct(rg, ['needle in'], folder),
      1.1,
    ],
    [
      'grep, regex',
      'rg',
      () => called('grep', { pattern: 'need\\w+ in \\w+ hay' }),
      () => direct(rg, ['need\\w+ in \\w+ hay'], folder),
      1.1,
    ],
  ];
  console.log(`Node ${process.version}, ${runs} runs in turn, medians, 20,000 files\n`);
  for (const [name, other, ours, theirs, most] of cases) {
    const times = { ours: [], theirs: [] };
    for (let run = -2; run < runs; run++) {
      for (const who of ['theirs', 'ours']) {
        const time = await (who === 'ours' ? ours() : theirs());
        if (run >= 0) times[who].push(time);
      }
    }
    const [a, b] = [median(times.ours), median(times.theirs)];
    console.log(
      `${name.padEnd(12)} ${ms(a).padStart(9)}   ${other} directly ${ms(b).padStart(9)}   ${ratio(a, b)} (at most ${most}x)`,
    );
  }
} finally {
  await server.stop();
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
}
