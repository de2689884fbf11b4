import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eras } from '../support/server.ts';
import { rawClient, type RawClient } from './raw-client.ts';
import { createScene, inShort, type Scene } from './scene.ts';

/** One that is known from the server's environment, and one that has the shape of a token. */
const known = 'q8Zr-known-to-the-server-77b04d3c9d';
const shaped = `ghp_${'a1B2c3D4e5F6g7H8i9J0'.repeat(2).slice(0, 36)}`;
const secrets = [known, shaped, Buffer.from(known).toString('base64').replaceAll('=', '')];
/** A colour, a title, a clipboard, a C1 control, an override, an isolate and a tag. */
const control = '\u001b[31m\u001b]0;t\u0007\u001b]52;c;AAAA\u0007\u009b2J\u202e\u2066\u{e0041}\u{e007f}';
const forbidden =
  /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069\u{e0000}-\u{e007f}]/u;
const hostile = `${control}${secrets.join(' ')}`;
/** The text as a name: without what no file name can have. */
const hostileName = `evil\u001b[31m\u202e\u{e0041}.txt`;

let scene: Scene;
beforeAll(() => {
  scene = createScene();
  const { root, write } = scene;
  const asScript = JSON.stringify(hostile);
  write('out.mjs', `console.log(${asScript})`);
  write('fail.mjs', `console.error(${asScript}); process.exitCode = 3`);
  write('stay.mjs', `console.log(${asScript}); console.error(${asScript}); setInterval(() => {}, 1000)`);
  write('leak.txt', `${hostile}\nleak here\n`);
  write(hostileName, 'leak in a strange file\n');
  write(`names/${known}.txt`, 'leak\n');
  const scripts = { test: `node out.mjs '${hostile}'` };
  write('package.json', JSON.stringify({ name: 'p', version: '1.0.0', description: hostile, scripts }));
  write('Makefile', `all: ## ${known} ${shaped} \u202e\u001b[31m\n\ttrue\n`);
  const preset = { name: 'a', displayName: hostile };
  write('CMakePresets.json', JSON.stringify({ version: 3, configurePresets: [preset] }));
  spawnSync('sqlite3', [join(root, 'data.db'), `create table t(a); insert into t values('${hostile}');`]);
  const git = (...args: string[]) =>
    spawnSync('git', ['-c', 'user.name=A', '-c', 'user.email=a@example.org', ...args], { cwd: root });
  git('commit', '--quiet', '--allow-empty', `--message=${hostile}`);
  git('branch', `b${known}`);
});
afterAll(() => scene.end());

const calls: readonly (readonly [tool: string, given: Record<string, unknown>])[] = [
  ['node_run', { file: 'out.mjs' }],
  ['node_run', { file: 'fail.mjs' }],
  ['node_run', { file: known }],
  ['node_run', { file: 'out.mjs', args: [hostile] }],
  ['npm_run', { task: 'test' }],
  ['npm_run', { task: known }],
  ['npm_scripts', {}],
  ['make_targets', {}],
  ['cmake_presets', {}],
  ['sqlite3_query', { database: 'data.db', sql: 'select * from t' }],
  ['sqlite3_query', { database: 'data.db', sql: `select '${hostile}' from nothing` }],
  ['git_log', { body: true }],
  ['git_show', {}],
  ['git_show', { ref: known }],
  ['git_status', { untracked: 'all' }],
  ['git_branches', {}],
  ['git_diff', { from: 'HEAD' }],
  ['git_grep', { pattern: 'leak' }],
  ['read_file', { path: 'leak.txt' }],
  ['read_file', { path: hostileName }],
  ['read_file', { path: `${known}${control.replaceAll('\u0000', '')}` }],
  ['read_file', { paths: ['leak.txt', 'package.json', hostileName, known] }],
  ['grep', { pattern: 'leak', context: 2 }],
  ['grep', { pattern: `(${hostile}` }],
  ['list_files', { glob: '**/*' }],
  ['list_files', { depth: 3 }],
  ['write_file', { path: 'new.txt', content: `${hostile}\n` }],
  ['edit_file', { path: 'new.txt', old_string: 'nothing', new_string: hostile }],
  ['delete_path', { path: 'new.txt' }],
  ['undo', {}],
  ['run', { command: 'node', args: ['-e', 'process.exit(3)', hostile] }],
  ['run', { command: 'sh', args: ['-c', 'cat leak.txt; cat leak.txt >&2; exit 1'] }],
  ['run', { command: known }],
  ['run', { command: 'node', [known]: 1 }],
  ['run_action', { action: known }],
  ['no_such_tool', { a: hostile }],
  [`no${control}`, {}],
  ['run_action', { action: `git${control}` }],
  ['run', { command: `echo ${hostile}` }],
];

/** A file's text is exact, since it is what edits are made of; it is marked as text of a file. */
const exact: ReadonlySet<string> = new Set(['read_file', 'write_file', 'edit_file', 'delete_path']);

const strings = (value: unknown): string[] => {
  if (typeof value === 'string') return [value];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, part]) => [name, ...strings(part)]);
};

/** Those that start no npm, for the second time. */
const quickCalls = calls.filter(([tool]) => tool !== 'npm_run');

describe.each(eras)('results, in %s', (era) => {
  let client: RawClient;
  beforeAll(async () => {
    const args = ['--questions', 'host'];
    const env = { MY_API_TOKEN: known, HARMLESS: 'yes', AWS_SECRET_ACCESS_KEY: known, NODE_OPTIONS: '' };
    client = await rawClient(era, scene.options(args, env));
  });
  afterAll(() => client.end());

  const clean = (isExact = false) => {
    for (const line of client.server.lines) {
      for (const secret of secrets) expect(line).not.toContain(secret);
      if (isExact) continue;
      for (const text of strings(JSON.parse(line))) expect(text).not.toMatch(forbidden);
    }
  };

  it.each(
    (era === eras[0] ? calls : quickCalls).map(
      ([name, given]) => [name, inShort(given).replaceAll(/[^ -~]/g, ''), given] as const,
    ),
  )('ATTACK 44, 84, 95: %s %s shows no secret and no control', async (name, _what, given) => {
    client.server.lines.length = 0;
    const answer = await client.call(name, given, { _meta: { progressToken: name } });
    expect(answer.result ?? answer.error).toBeTruthy();
    clean(exact.has(name) && !answer.result?.isError);
  });

  it('ATTACK 44, 84, 95: a job shows no secret and no control, however it is read', async () => {
    client.server.lines.length = 0;
    const inner = { action: 'node_run', arguments: { file: 'stay.mjs' }, background: true };
    const started = await client.call('run_action', inner);
    const id = String(started.result?._meta?.['toolcrib/job']);
    await client.call('read_output', { id, wait_for: '\\S' }, { _meta: { progressToken: 7 } });
    for (const [name, given] of [
      ['read_output', {}],
      ['read_output', { id }],
      ['read_output', { id, pattern: '.' }],
      ['read_output', { id, tail: 1 }],
      ['read_output', { id, start_line: 1 }],
      ['control_job', { id, action: 'send', text: hostile }],
      ['control_job', { id, action: 'stop' }],
      ['read_output', { id }],
    ] as const)
      expect((await client.call(name, given)).result, name).toBeTruthy();
    clean();
  });
});

it('ATTACK 84, 95: the record of calls has no secret and no control, and is nobody else’s to read', () => {
  const folder = join(scene.options().env!['XDG_STATE_HOME']!, 'toolcrib', 'audit');
  const text = readdirSync(folder)
    .map((name) => readFileSync(join(folder, name), 'utf8'))
    .join('');
  expect(text.split('\n').length).toBeGreaterThan(calls.length);
  for (const secret of secrets) expect(text).not.toContain(secret);
  expect(text).not.toMatch(forbidden);
  expect(existsSync(join(scene.root, 'ran'))).toBe(false);
});
