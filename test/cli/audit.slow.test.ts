import { spawn, spawnSync } from 'node:child_process';
import {
  appendFileSync,
  chmodSync,
  mkdirSync,
  readdirSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { temporaryFolder, temporaryRepository } from '../support/repository.ts';
import { connect, eras, inherited, program } from '../support/server.ts';

/** A state folder with an audit in it, and how a person looks at it. */
function machine() {
  const state = temporaryFolder();
  const env = { ...inherited(), XDG_STATE_HOME: state, NO_COLOR: '1' };
  const folder = join(state, 'toolcrib', 'audit');
  const run = (...args: string[]) => {
    const { status, stdout, stderr } = spawnSync(process.execPath, [program, 'audit', ...args], {
      env,
      encoding: 'utf8',
    });
    return { status, stdout, stderr };
  };
  return { env, folder, file: join(folder, 'audit.jsonl'), run };
}

const line = (more: object = {}) =>
  `${JSON.stringify({ time: '2026-01-31T12:00:00.000Z', pid: 1, tool: 'git_log', arguments: { limit: 3 }, decision: 'allow', outcome: 'ok', ms: 12.3, ...more })}\n`;

/** An audit with these lines in its file. */
function written(...lines: string[]) {
  const one = machine();
  mkdirSync(one.folder, { recursive: true, mode: 0o700 });
  writeFileSync(one.file, lines.join(''), { mode: 0o600 });
  return one;
}

it('has nothing to show before the first call', () => {
  const { run, folder } = machine();
  expect(run()).toEqual({
    status: 0,
    stdout: '',
    stderr: `toolcrib: no such calls have been recorded in ${folder}.\n`,
  });
  expect(run('--json')).toMatchObject({ status: 0, stdout: '' });
});

it('shows a call in a line', () => {
  const { run } = written(
    line(),
    line({
      tool: 'git_push',
      decision: 'denied',
      setting: 'effects.network is "deny"',
      outcome: 'EFFECT_DENIED',
      arguments: {},
    }),
    line({ tool: 'npm_test', outcome: 'PROGRAM_FAILED', job: 'j1', ms: 61_234 }),
  );
  const { status, stdout, stderr } = run();
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  const shown = stdout.replaceAll(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d /gm, '@');
  expect(shown.split('\n')).toEqual([
    '@ git_log               limit=3  ok  12 ms',
    '@ git_push              denied (effects.network is "deny")  EFFECT_DENIED  12 ms',
    '@ npm_test              limit=3  PROGRAM_FAILED  61,234 ms  job j1',
    '',
  ]);
});

it('shows the last calls, calls of some tools, or those that were refused', () => {
  const calls = Array.from({ length: 50 }, (_, index) =>
    line({
      tool: index % 2 ? 'git_log' : 'npm_test',
      client: { id: `${index}` },
      decision: index % 10 === 3 ? 'asked:no' : 'allow',
    }),
  );
  const { run } = written(...calls);
  const ids = (...args: string[]) =>
    run('--json', ...args)
      .stdout.split('\n')
      .filter((text) => text !== '')
      .map((text) => Number((JSON.parse(text) as { client: { id: string } }).client.id));
  expect(ids()).toHaveLength(20);
  expect(ids('-n', '3')).toEqual([47, 48, 49]);
  expect(ids('-n', '0')).toEqual([]);
  expect(ids('--tool', 'npm_*', '-n', '2')).toEqual([46, 48]);
  expect(ids('--denied')).toEqual([3, 13, 23, 33, 43]);
});

it('ATTACK 44: shows nothing that commands the terminal, whatever is in the file', () => {
  const hostile = 'a\u001b]52;c;aGk=\u0007b\u001b[2J\u202ec\u{e0041}\u2028d\ne';
  const { run } = written(
    line({
      tool: hostile,
      arguments: { [hostile]: hostile },
      setting: hostile,
      decision: hostile,
      outcome: hostile,
      job: hostile,
      time: hostile,
    }),
    'no JSON\n',
    '[1]\n',
    `${JSON.stringify({ tool: { a: hostile }, ms: hostile, arguments: hostile })}\n`,
  );
  for (const args of [[], ['--json']]) {
    const { status, stdout } = run(...args);
    expect(status).toBe(0);
    expect(stdout).not.toMatch(/[\p{Cf}\p{Zl}]|(?!\n)\p{Cc}/u);
    expect(stdout.trimEnd().split('\n')).toHaveLength(2);
  }
});

it.each([
  [['-n', 'x'], '-n x: expected a number of lines'],
  [['-n', '-1'], 'lines'],
  [['--folow'], 'did you mean --follow?'],
  [['extra'], 'extra'],
])('refuses %j as a wrong command line', (args, message) => {
  const { status, stdout, stderr } = machine().run(...args);
  expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
  expect(stderr).toContain(message);
});

/** `toolcrib audit --follow`, and a way to wait for what it shows. */
function follow(env: Record<string, string>, ...args: string[]) {
  const child = spawn(process.execPath, [program, 'audit', '--follow', ...args], { env });
  onTestFinished(() => {
    child.kill('SIGKILL');
  });
  let shown = '';
  let stderr = '';
  const changed = new Set<() => void>();
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    shown += chunk;
    for (const look of changed) look();
  });
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
    stderr += chunk;
  });
  const ended = new Promise<{ status: number | null; stderr: string }>((resolve) =>
    child.once('close', (status) => resolve({ status, stderr })),
  );
  const shows = (text: string) =>
    new Promise<void>((resolve) => {
      const look = () => {
        if (!shown.includes(text)) return;
        changed.delete(look);
        resolve();
      };
      changed.add(look);
      look();
    });
  return { child, shows, ended, shown: () => shown };
}

it('follows all processes, from before the first call until Ctrl-C', async () => {
  const { env, folder, file } = machine();
  // There is no file yet, and no folder.
  const { child, shows, ended, shown } = follow(env, '--tool', 'seen_*');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  writeFileSync(file, line({ tool: 'seen_first' }) + line({ tool: 'git_log' }), { mode: 0o600 });
  await shows('seen_first');
  appendFileSync(file, line({ tool: 'seen_late' }).slice(0, 30));
  appendFileSync(file, line({ tool: 'seen_late' }).slice(30));
  await shows('seen_late');
  writeFileSync(join(folder, '20260131T120000000Z-2.jsonl'), line({ tool: 'seen_other' }), { mode: 0o600 });
  await shows('seen_other');
  appendFileSync(file, line({ tool: 'seen_last' }));
  await shows('seen_last');
  child.kill('SIGINT');
  expect(await ended).toEqual({ status: 0, stderr: '' });
  expect(shown().match(/seen_\w+/g)).toEqual(['seen_first', 'seen_late', 'seen_other', 'seen_last']);
  expect(shown()).not.toContain('git_log');
});

it('shows the calls of all processes in the order of time', () => {
  const { run, folder } = written(line({ tool: 'b', time: '2026-01-31T12:00:02.000Z' }));
  const others =
    line({ tool: 'a', time: '2026-01-31T12:00:01.000Z' }) +
    line({ tool: 'c', time: '2026-01-31T12:00:03.000Z' });
  writeFileSync(join(folder, '20260131T120000000Z-2.jsonl'), others, { mode: 0o600 });
  expect(run('--json').stdout.match(/"tool":"\w"/g)).toEqual(['"tool":"a"', '"tool":"b"', '"tool":"c"']);
  expect(run('-n', '1', '--json').stdout).toContain('"tool":"c"');
});

it('ends when nobody reads any more', async () => {
  const { env, file } = written(line());
  const { child, shows, ended } = follow(env);
  await shows('git_log');
  child.stdout.destroy();
  const timer = setInterval(() => appendFileSync(file, line()), 50);
  onTestFinished(() => clearInterval(timer));
  expect(await ended).toEqual({ status: 0, stderr: '' });
});

it.each(eras)('shows the calls of a client and how they ended, in %s', async (era) => {
  const { env, run } = machine();
  const { folder } = temporaryRepository();
  const token = ['ghp', 'aB3dE6gH9jK2mN5pQ8sT1vW4yZ7bC0eF3hJ6'].join('_');
  const client = await connect(era, { roots: [folder], args: ['--read-only'], env });
  await client.callTool({ name: 'git_log', arguments: { limit: 1 } });
  await client.callTool({ name: 'grep', arguments: { pattern: token } });
  await client.callTool({ name: 'write_file', arguments: { path: 'a', content: 'b' } });
  await client.close();
  const lines = run('--json')
    .stdout.trim()
    .split('\n')
    .map((text) => JSON.parse(text) as object);
  expect(lines).toMatchObject([
    {
      tool: 'git_log',
      effects: ['read'],
      decision: 'allow',
      outcome: 'ok',
      arguments: { limit: 1 },
      roots: [folder],
    },
    { tool: 'grep', decision: 'allow' },
    {
      tool: 'write_file',
      decision: 'denied',
      outcome: 'EFFECT_DENIED',
      setting: expect.stringContaining('readOnly'),
    },
  ]);
  expect(JSON.stringify(lines)).not.toContain(token);
  expect(run('--denied').stdout).toMatch(/write_file .*denied/);
});

it('keeps one private file a process, forgets old ones, and fails no call it cannot record', async () => {
  const { env, folder, run } = written(line({ tool: 'old' }));
  const old = new Date(Date.now() - 31 * 24 * 60 * 60 * 1000);
  utimesSync(join(folder, 'audit.jsonl'), old, old);
  const options = { roots: [temporaryRepository().folder], env };
  for (let times = 0; times < 2; times++) {
    const client = await connect('2025-11-25', options);
    await client.callTool({ name: 'list_files', arguments: { glob: 'x'.repeat(5000) } });
    await client.close();
  }
  const names = readdirSync(folder);
  expect(names).toHaveLength(2);
  expect(names).not.toContain('audit.jsonl');
  for (const name of names) expect(statSync(join(folder, name)).mode & 0o777).toBe(0o600);
  expect(run('--json').stdout.length).toBeLessThan(2000);
  chmodSync(folder, 0o755);
  const client = await connect('2025-11-25', options);
  const result = await client.callTool({ name: 'list_files', arguments: { glob: '*' } });
  await client.close();
  expect(result.isError).toBeFalsy();
  expect(readdirSync(folder)).toHaveLength(2);
});
