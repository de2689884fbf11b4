// npm run bench:calls: calls against their physical limits, in turn, on a made workspace; then memory and 16 calls at once.
// RUNS=51 sets the rounds, ONLY=word picks rows whose name has the word.
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { mkdir, open, readdir, readFile, rename } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { median, ms, peakMemory, ratio, startServer } from './measure.mjs';
import { makeWorkspace, text } from './workspace.mjs';

const runs = Number(process.env.RUNS ?? 51);
const only = process.env.ONLY ?? '';
const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const rg = createRequire(createRequire(import.meta.url).resolve('@vscode/ripgrep')).resolve(
  `@vscode/ripgrep-${process.platform}-${process.arch}/bin/rg`,
);
const many = { maxBuffer: 1 << 26 };

const folder = makeWorkspace();
const state = mkdtempSync(join(tmpdir(), 'toolcrib-bench-state-'));
const at = (path) => join(folder, path);
const start = () =>
  startServer(process.execPath, [here('../dist/toolcrib.cjs'), 'serve', '--root', folder], {
    env: { ...process.env, XDG_STATE_HOME: state },
  });
const server = start();
const empty = startServer(process.execPath, [here('empty-server.mjs')]);

const callOf = (which) => async (name, given) => {
  const { result, error } = await which.ask('tools/call', { name, arguments: given });
  if (error || result.isError) throw new Error(`${name}: ${error?.message ?? result.content[0].text}`);
  return result;
};
const call = callOf(server);
const emptyCall = () => callOf(empty)('empty', {});

async function direct(file, args) {
  const child = spawn(file, args, { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] });
  child.stdout.resume();
  await once(child, 'close');
}

/** What any scan has to do: read on in chunks and count line feeds until the line is reached. */
async function scanFor(line) {
  const file = await open(at('logs/100m.log'));
  const buffer = Buffer.allocUnsafe(1024 * 1024);
  let reached = 1;
  for (let position = 0; ; position += buffer.length) {
    const { bytesRead } = await file.read(buffer, 0, buffer.length, position);
    for (let next = buffer.indexOf(10); next !== -1 && next < bytesRead; next = buffer.indexOf(10, next + 1))
      if (++reached === line) return file.close();
    if (bytesRead < buffer.length) throw new Error(`line ${line} was not reached`);
  }
}

/** The least that survives a crash: read, write beside it, flush, rename. */
async function replace(path, change) {
  const bytes = change(await readFile(path));
  const file = await open(`${path}.tmp`, 'wx');
  await file.writeFile(bytes);
  await file.sync();
  await file.close();
  await rename(`${path}.tmp`, path);
}

let turn = 0;
const megabyte = text(1024 * 1024);
const content = () => `${megabyte.slice(0, 500_000)}${String(++turn).padStart(8)}${megabyte.slice(500_008)}`;
/** A new line number each time, far from the others; a touched file has no index yet. */
const touch = async () => {
  const file = await open(at('logs/100m.log'), 'r+');
  await file.utimes(new Date(), new Date());
  await file.close();
};
const lines = (offset) => call('read_file', { path: 'logs/100m.log', offset, limit: 50 });

const rows = [
  {
    name: 'git_status',
    limit: 'git status',
    most: 1.15,
    ours: () => call('git_status', {}),
    theirs: () => direct('git', ['status']),
  },
  {
    name: 'read 10 KB',
    limit: 'fs.readFile + an empty call',
    most: 1.5,
    ours: () => call('read_file', { path: 'logs/10k.txt' }),
    theirs: () => readFile(at('logs/10k.txt'), 'utf8').then(emptyCall),
  },
  {
    name: 'lines of 100 MB',
    limit: 'a scan in chunks',
    most: 1.3,
    before: touch,
    ours: () => lines(500_000),
    theirs: () => scanFor(500_000),
  },
  {
    name: '... at another line',
    limit: 'the same scan',
    most: 0.1,
    ours: () => lines(400_000 + 1000 * (++turn % 100)),
    theirs: () => scanFor(500_000),
  },
  {
    name: 'list 2,000 entries',
    limit: 'readdir + an empty call',
    most: 1.4,
    ours: () => call('list_directory', { path: 'logs/many', limit: 2000 }),
    theirs: () => readdir(at('logs/many'), { withFileTypes: true }).then(emptyCall),
  },
  {
    name: 'glob **/*.ts',
    limit: 'rg --files',
    most: 0.9,
    ours: () => call('glob', { pattern: '**/*.ts' }),
    theirs: () => direct(rg, ['--files', '--glob=*.ts']),
  },
  {
    name: 'grep literal',
    limit: 'rg',
    most: 1.06,
    ours: () => call('grep', { pattern: 'needle in' }),
    theirs: () => direct(rg, ['-n', 'needle in']),
  },
  {
    name: 'grep regex, context',
    limit: 'rg',
    most: 1.06,
    ours: () => call('grep', { pattern: 'need\\w+ in \\w+ hay', context: 2 }),
    theirs: () => direct(rg, ['-n', '-C2', 'need\\w+ in \\w+ hay']),
  },
  {
    name: 'edit in 1 MB',
    limit: 'read, write, fsync, rename',
    most: 1.5,
    ours: () => {
      const [old, next] = [turn, ++turn].map((count) => `line ${String(count).padStart(8)}`);
      return call('edit_file', { path: 'logs/edited.txt', edits: [{ old, new: next }] });
    },
    theirs: () => replace(at('logs/1m.txt'), (bytes) => Buffer.from(bytes)),
    async prepare() {
      writeFileSync(
        at('logs/edited.txt'),
        `${megabyte.slice(0, 500_000)}line ${String(turn).padStart(8)}${megabyte.slice(500_013)}`,
      );
      await call('read_file', { path: 'logs/edited.txt' });
    },
  },
  {
    name: 'write 1 MB',
    // To bring a message of 1 MB through a pipe and read it costs more than to write a file, whatever is done with it.
    limit: '... and 1 MB to the empty call',
    most: 1.5,
    ours: () => call('write_file', { path: 'logs/written.txt', content: content() }),
    theirs: () =>
      replace(at('logs/1m.txt'), (bytes) => Buffer.from(bytes)).then(() =>
        callOf(empty)('empty', { content: content() }),
      ),
    prepare: () => call('write_file', { path: 'logs/written.txt', content: content() }),
  },
];

const timed = async (work) => {
  const startedAt = performance.now();
  await work();
  return performance.now() - startedAt;
};

async function measure({ name, limit, most, ours, theirs, prepare, before }) {
  await prepare?.();
  const times = { ours: [], theirs: [] };
  for (let run = -3; run < runs; run++) {
    for (const [who, work] of [
      ['theirs', theirs],
      ['ours', ours],
    ]) {
      await before?.();
      const time = await timed(work);
      if (run >= 0) times[who].push(time);
    }
  }
  const [a, b] = [median(times.ours), median(times.theirs)];
  const verdict = a / b <= most ? '' : '  OVER';
  console.log(
    `${name.padEnd(20)} ${ms(a).padStart(9)}   ${limit.padEnd(28)} ${ms(b).padStart(9)}   ${ratio(a, b)} (at most ${most}x)${verdict}`,
  );
  return a;
}

/** Sixteen calls at once must take no longer than sixteen calls one after the other. */
async function measureSixteen(name, work, single) {
  const times = [];
  for (let run = 0; run < 5; run++)
    times.push(await timed(() => Promise.all(Array.from({ length: 16 }, work))));
  const together = median(times);
  console.log(
    `16 x ${name.padEnd(20)} ${ms(together).padStart(9)}   ${ratio(together, single)} of one (at most 16x)${together > 16 * single ? '  OVER' : ''}`,
  );
}

/** Peak memory of a Node process that does nothing. */
async function bareMemory() {
  const bare = spawn(process.execPath, ['-e', 'process.stdin.resume(); console.log(1)'], {
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  await once(bare.stdout, 'data');
  const peak = peakMemory(bare.pid);
  bare.stdin.end();
  await once(bare, 'exit');
  return peak;
}

try {
  await Promise.all([server.initialize(), empty.initialize()]);
  await promisify(execFile)('git', ['status'], { cwd: folder, ...many });
  await mkdir(state, { recursive: true });
  console.log(`Node ${process.version}, ${runs} runs in turn, medians\n`);
  const chosen = rows.filter(({ name }) => name.includes(only));
  const single = new Map();
  for (const row of chosen) single.set(row, await measure(row));
  const [bare, ours] = [await bareMemory(), peakMemory(server.child.pid)];
  console.log(
    `\npeak memory ${ours.toFixed(0)} MB   bare Node ${bare.toFixed(0)} MB   ${ratio(ours, bare)} (at most 1.8x)${ours / bare > 1.8 ? '  OVER' : ''}\n`,
  );
  // Edits of one file queue behind each other by design, so they are not among these.
  for (const row of chosen.filter(({ prepare }) => !prepare))
    await measureSixteen(row.name, row.ours, single.get(row));
} finally {
  await Promise.all([server.stop(), empty.stop()]);
  for (const path of [folder, state]) rmSync(path, { recursive: true, force: true, maxRetries: 5 });
}
