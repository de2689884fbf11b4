// The calls that are measured, each against what it cannot do without, and how many times as long it may take.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { open, readdir, readFile, rename } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { text } from './workspace.mjs';

const rg = createRequire(createRequire(import.meta.url).resolve('@vscode/ripgrep')).resolve(
  `@vscode/ripgrep-${process.platform}-${process.arch}/bin/rg`,
);

/** What any scan has to do: read on in chunks and count line feeds until the line is reached. */
async function scanFor(path, line) {
  const file = await open(path);
  const buffer = Buffer.allocUnsafe(1024 * 1024);
  let reached = 1;
  for (let position = 0; ; position += buffer.length) {
    const { bytesRead } = await file.read(buffer, 0, buffer.length, position);
    for (
      let next = buffer.indexOf(10);
      next !== -1 && next < bytesRead;
      next = buffer.indexOf(10, next + 1)
    ) {
      reached += 1;
      if (reached === line) return file.close();
    }
    if (bytesRead < buffer.length) throw new Error(`line ${line} was not reached`);
  }
}

/** The least that survives a crash: read, write beside it, flush, rename. */
async function replace(path) {
  const bytes = Buffer.from(await readFile(path));
  const file = await open(`${path}.tmp`, 'wx');
  await file.writeFile(bytes);
  await file.sync();
  await file.close();
  await rename(`${path}.tmp`, path);
}

/**
 * Rows of a workspace. `call` asks our server, `kept` one that keeps checkpoints, `peer` the reference file server and
 * `empty` one whose tool does nothing; `first` starts a server and makes one call.
 */
export function rowsOf({ folder, env, call, kept, peer, empty, first }) {
  const at = (path) => join(folder, path);
  const direct = async (file, ...args) => {
    const child = spawn(file, args, { cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe'] });
    child.stdout.resume();
    child.stderr.resume();
    await once(child, 'close');
  };
  const megabyte = text(1024 * 1024);
  const log = at('logs/100m.log');
  let turn = 0;
  const edited = (count) => `line ${String(count).padStart(8)}`;
  const content = () => {
    turn += 1;
    return `${megabyte.slice(0, 500_000)}${edited(turn)}${megabyte.slice(500_013)}`;
  };
  const lines = (offset) => call('read_file', { path: 'logs/100m.log', offset, limit: 51 });
  /** A touched file has no index yet. */
  const touch = async () => {
    const file = await open(log, 'r+');
    await file.utimes(new Date(), new Date());
    await file.close();
  };
  /** 20,000 folders with a file in each hundredth. */
  const makeWide = () => {
    for (let index = 0; index < 20_000; index++) mkdirSync(at(`logs/wide/${index}`), { recursive: true });
    for (let index = 0; index < 20_000; index += 100) writeFileSync(at(`logs/wide/${index}/a.ts`), 'x');
  };
  const listed = (path) => readdir(at(path), { withFileTypes: true }).then(() => empty());
  const row = (name, limit, most, work) => ({ name, limit, most, ...work });
  return [
    row('git_status', 'git status', 1.15, {
      ours: () => call('git_status', {}),
      theirs: () => direct('git', 'status'),
      together: true,
    }),
    row('git_log', 'git log', 1.6, { ours: () => call('git_log', {}), theirs: () => direct('git', 'log') }),
    row('run true', 'execFile', 2, {
      ours: () => call('run', { command: 'true' }),
      theirs: () => direct('true'),
    }),
    row('run with a checkpoint', 'true and git status', 1.5, {
      prepare: () => kept('run', { command: 'true' }),
      ours: () => kept('run', { command: 'true' }),
      theirs: () => direct('git', 'status').then(() => direct('true')),
    }),
    row('npm_test', 'npm test', 1.15, {
      ours: () => call('npm_test', {}),
      theirs: () => direct('npm', 'test'),
    }),
    row('first call after start', 'empty server and its call', 2, {
      ours: () => first('ours', 'read_file', { path: 'logs/10k.txt' }),
      theirs: () => first('empty', 'empty', {}),
    }),
    row('read 10 KB', 'fs.readFile + an empty call', 1.8, {
      ours: () => call('read_file', { path: 'logs/10k.txt' }),
      theirs: () => readFile(at('logs/10k.txt'), 'utf8').then(() => empty()),
      peer: () => peer('read_text_file', { path: at('logs/10k.txt') }),
      together: true,
    }),
    row('lines of 100 MB', 'a scan in chunks', 1.2, {
      before: touch,
      ours: () => lines(500_000),
      theirs: () => scanFor(log, 500_000),
    }),
    row('... at another line', 'the same scan', 0.2, {
      ours: () => {
        turn += 1;
        return lines(400_000 + 1000 * (turn % 100));
      },
      theirs: () => scanFor(log, 500_000),
    }),
    row('list 2,000 entries', 'readdir + an empty call', 2, {
      ours: () => call('list_files', { path: 'logs/many', limit: 2000 }),
      theirs: () => listed('logs/many'),
      peer: () => peer('list_directory', { path: at('logs/many') }),
      together: true,
    }),
    row('list 20,000 folders', 'readdir + an empty call', 2, {
      prepare: makeWide,
      ours: () => call('list_files', { path: 'logs/wide', limit: 2000 }),
      theirs: () => listed('logs/wide'),
    }),
    row('glob in 20,000 folders', 'rg --files', 1.25, {
      prepare: makeWide,
      ours: () => call('list_files', { glob: '**/*.ts', path: 'logs/wide' }),
      theirs: () => direct(rg, '--files', '--glob=*.ts', at('logs/wide')),
    }),
    row('glob **/*.ts', 'rg --files', 1.25, {
      ours: () => call('list_files', { glob: '**/*.ts' }),
      theirs: () => direct(rg, '--files', '--glob=*.ts'),
      together: true,
    }),
    row('grep literal', 'rg', 1.1, {
      ours: () => call('grep', { pattern: 'needle in' }),
      theirs: () => direct(rg, '-n', 'needle in'),
      together: true,
    }),
    row('grep regex, context', 'rg', 1.1, {
      ours: () => call('grep', { pattern: 'need\\w+ in \\w+ hay', context: 2 }),
      theirs: () => direct(rg, '-n', '-C2', 'need\\w+ in \\w+ hay'),
    }),
    row('edit in 1 MB', 'read, write, fsync, rename', 2, {
      prepare: () => writeFileSync(at('logs/edited.txt'), content()),
      ours: () => {
        const old = edited(turn);
        turn += 1;
        return call('edit_file', { path: 'logs/edited.txt', old_string: old, new_string: edited(turn) });
      },
      theirs: () => replace(at('logs/1m.txt')),
    }),
    row('write 1 MB', '... and 1 MB to the empty call', 1.3, {
      // A message of 1 MB takes longer to come through a pipe and be read than a file of 1 MB takes to write.
      prepare: () => call('write_file', { path: 'logs/written.txt', content: content() }),
      ours: () => call('write_file', { path: 'logs/written.txt', content: content() }),
      theirs: () => replace(at('logs/1m.txt')).then(() => empty({ content: content() })),
    }),
  ];
}
