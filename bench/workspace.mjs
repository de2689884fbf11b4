// A made workspace, the same every time: 20,000 files with 200 MB in 1,400 folders, a log of 100 MB, a folder of 2,000 entries.
import { execFileSync } from 'node:child_process';
import { closeSync, mkdirSync, mkdtempSync, openSync, writeFileSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Makes it in a temporary folder, with a git repository, and returns its path. */
export function makeWorkspace() {
  const folder = mkdtempSync(join(tmpdir(), 'toolcrib-bench-'));
  const words =
    'const value return import export function await result error path string number object list'.split(' ');
  let seed = 42;
  // A linear congruential generator (Numerical Recipes).
  const random = (most) => {
    seed = (seed * 1664525 + 1013904223) >>> 0;
    return seed % most;
  };
  const line = () => Array.from({ length: 10 }, () => words[random(words.length)]).join(' ');
  for (let index = 0; index < 20_000; index++) {
    const sub = join(folder, `dir${index % 200}`, `sub${index % 7}`);
    mkdirSync(sub, { recursive: true });
    const lines = Array.from({ length: 150 }, line);
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
  // Logs are not committed, and would only make git and ripgrep slower: the same for both sides.
  writeFileSync(join(folder, '.git', 'info', 'exclude'), 'logs/\n');
  makeLogs(join(folder, 'logs'));
  git('status');
  return folder;
}

function makeLogs(folder) {
  mkdirSync(join(folder, 'many'), { recursive: true });
  for (let index = 0; index < 2000; index++) writeFileSync(join(folder, 'many', `entry-${index}.txt`), 'x');
  writeFileSync(join(folder, '10k.txt'), text(10 * 1024));
  writeFileSync(join(folder, '1m.txt'), text(1024 * 1024));
  const log = openSync(join(folder, '100m.log'), 'w');
  for (let written = 0; written < 100; written++) writeSync(log, text(1024 * 1024));
  closeSync(log);
}

/** Lines of 64 to 128 bytes. */
export function text(bytes) {
  const lines = [];
  for (let length = 0, index = 0; length < bytes; index++) {
    lines.push(`${index} `.padEnd(64 + (index % 64), 'a line of a log '));
    length += lines.at(-1).length + 1;
  }
  return `${lines.join('\n')}\n`.slice(0, bytes);
}
