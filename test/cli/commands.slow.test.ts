import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { help, pages } from '../../src/cli/help.ts';
import { temporaryFolder, temporaryRepository } from '../support/repository.ts';
import { program } from '../support/server.ts';

/** Runs the built program as a person would. */
function toolcrib(args: readonly string[], cwd = temporaryFolder()) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [program, ...args], {
    cwd,
    encoding: 'utf8',
  });
  return { status, stdout, stderr };
}

it('prints its version and its help', () => {
  expect(toolcrib(['--version'])).toMatchObject({
    status: 0,
    stdout: expect.stringMatching(/^\d+\.\d+\.\d+\n$/),
  });
  expect(toolcrib(['version'])).toEqual(toolcrib(['--version']));
  for (const args of [[], ['--help'], ['help']])
    expect(toolcrib(args)).toEqual({ status: 0, stdout: help, stderr: '' });
  expect(toolcrib(['help', 'trust'])).toEqual(toolcrib(['trust', '-h']));
});

it.each(Object.keys(pages))('has a help of its own for %s, with examples', (command) => {
  const { status, stdout } = toolcrib([command, '--help']);
  expect({ status, stdout }).toEqual({ status: 0, stdout: pages[command] });
  expect(help).toContain(`toolcrib ${command} `);
});

it.each([
  [['sreve'], 'there is no command "sreve"; did you mean serve?'],
  [['serve', '--rot', 'x'], "Unknown option '--rot'; did you mean --root?"],
  [['serve', '--root', '/no/such/folder'], 'there is no such folder'],
  [['serve', '--toolsets', 'gti'], 'did you mean git?'],
  [['serve', '--rule', 'git_push'], '=allow, =ask or =deny is expected'],
  [['serve', '--rule', 'git_push=perhaps'], 'there is no such decision; there are allow, ask, deny'],
  [['serve', '--rule', 'git push=ask'], 'expected a tool'],
  [['serve', '--rule', 'git_psuh=ask'], '--rule git_psuh=ask: there is no such tool; did you mean git_push?'],
  [['serve', '--rule', 'read(**/.env)=ask'], 'a rule about reading files can only deny'],
  [['serve', '--questions', 'hots'], '--questions hots: there is no such way; did you mean host?'],
  [['call', '--rule', 'git_push'], '=allow, =ask or =deny is expected'],
  [['list', '--al'], "Unknown option '--al'"],
  [['call', 'git_log', '--limit', '3'], 'limit=…'],
  [['call', 'git_log', '--root', '/no/such/folder'], 'there is no such folder'],
  [['try', '--root', '/no/such/folder'], 'there is no such folder'],
  [['help', 'lst'], 'did you mean list?'],
  [['call', 'git_statsu', '--help'], 'there is no tool'],
  [['call', 'git_stat'], 'Did you mean git_status?'],
  [['call', 'git_log', '--output', 'yaml'], '--output: text or json'],
  [['call', 'git_log', '--json', '{'], '--json:'],
  [['call', 'git_log', '--json', '[]'], 'expected an object'],
  [['call', 'git_log', '--json', '{}', 'limit=1'], 'not both'],
  [['call', 'git_log', 'limit'], 'expected key=value'],
] as const)('refuses %j as a wrong command line, in one line', (args, message) => {
  const { status, stdout, stderr } = toolcrib(args);
  expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
  expect(stderr).toContain(message);
  expect(stderr.trim().split('\n')).toHaveLength(1);
});

it('makes one call, with arguments as pairs or as JSON', () => {
  const { folder } = temporaryRepository();
  const asPairs = toolcrib(
    ['call', 'git_log', 'limit=1', 'body=true', 'paths=src', 'paths=README.md'],
    folder,
  );
  const asJson = toolcrib(
    ['call', 'git_log', '--json', '{"limit":1,"body":true,"paths":["src","README.md"]}'],
    folder,
  );
  expect(asPairs.stdout).toMatch(/^\w{7,} \S+ .* First commit$/m);
  expect(asJson).toEqual(asPairs);
  expect(asPairs).toMatchObject({ status: 0, stderr: '' });
  // A value that looks like a number stays text where text is wanted.
  expect(toolcrib(['call', 'grep', 'pattern=1'], folder)).toMatchObject({ status: 0 });
});

it('lists the tools, and names the parameters of one', () => {
  expect(toolcrib(['call']).stdout).toMatch(/^git_status +Branch, upstream/m);
  expect(toolcrib(['call', 'git_log', '--help']).stdout).toMatch(/^ {2}limit {2}\(integer, default 20\)/m);
});

it('ends well when nobody reads its output to the end', () => {
  const line = `'${process.execPath}' '${program}' list --all | head -c 1; exit \${PIPESTATUS[0]}`;
  const { status, stderr } = spawnSync('bash', ['-c', line], { encoding: 'utf8' });
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
});

it('fails with 1 when the tool fails, and says why on standard error', () => {
  const { folder } = temporaryRepository();
  expect(toolcrib(['call', 'read_file', 'path=/etc/passwd'], folder)).toMatchObject({
    status: 1,
    stdout: '',
    stderr: expect.stringMatching(/^PATH_OUTSIDE_ROOTS/),
  });
  const { status, stdout } = toolcrib(['call', 'read_file', 'path=/etc/passwd', '--output', 'json'], folder);
  expect({ status, result: JSON.parse(stdout) as unknown }).toMatchObject({
    status: 1,
    result: { isError: true, content: [{ type: 'text' }] },
  });
});

it('ends call with 130 on Ctrl-C', async () => {
  const args = [program, 'call', 'node_run', 'file=slow.js', '--rule', 'run(*)=allow'];
  const folder = temporaryFolder();
  writeFileSync(
    join(folder, 'slow.js'),
    "require('fs').writeFileSync('begun', ''); setTimeout(() => {}, 60000)",
  );
  const child = spawn(process.execPath, [...args, '--questions', 'none'], { cwd: folder });
  const code = new Promise((resolve) => child.once('exit', resolve));
  await expect.poll(() => existsSync(join(folder, 'begun'))).toBe(true);
  child.kill('SIGINT');
  expect(await code).toBe(130);
});

it('reaches the current folder and nothing else, unless a root is named', () => {
  const folder = temporaryFolder();
  const other = temporaryFolder();
  writeFileSync(join(other, 'a.txt'), 'hello');
  const path = `path=${join(other, 'a.txt')}`;
  expect(toolcrib(['call', 'read_file', path], folder).status).toBe(1);
  expect(toolcrib(['call', 'read_file', path, '--root', other], folder)).toMatchObject({
    status: 0,
    stdout: '1\thello\n',
  });
});

it('makes five sample calls with try, the same after a warm start as after a cold one', () => {
  const { folder } = temporaryRepository();
  writeFileSync(join(folder, 'LICENSE.md'), 'function of a licence\n');
  const before = readFileSync(join(folder, 'README.md'), 'utf8');
  const env = { ...process.env, XDG_CACHE_HOME: temporaryFolder() };
  const run = () => spawnSync(process.execPath, [program, 'try'], { cwd: folder, encoding: 'utf8', env });
  const [cold, warm] = [run(), run()];
  expect(cold).toMatchObject({ status: 0, stderr: '' });
  const calls = [...cold.stdout.matchAll(/^> (\w+)/gm)].map(([, name]) => name);
  expect(calls).toEqual(['project', 'grep', 'edit_file', 'undo', 'find_actions']);
  expect(cold.stdout).not.toMatch(/an error|licen[cs]e\n/i);
  expect(cold.stdout.trimEnd().split('\n').at(-1)).toMatch(/config HOST --write/);
  expect(readFileSync(join(folder, 'README.md'), 'utf8')).toBe(before);
  const count = /: (\d+) tools/;
  expect(count.exec(warm.stdout)?.[1]).toBe(count.exec(cold.stdout)?.[1]);
});

it('makes sample calls with try in an empty folder, and where nothing may be changed', () => {
  expect(toolcrib(['try'])).toMatchObject({ status: 0, stdout: expect.stringContaining('hello.txt') });
  const { status, stdout } = toolcrib(['try', '--read-only']);
  expect(status).toBe(0);
  expect(stdout).not.toContain('> edit_file');
});

it('waits with call for a job, and does not start what would end with it', () => {
  const folder = temporaryFolder();
  const config = temporaryFolder();
  mkdirSync(join(config, 'toolcrib'));
  writeFileSync(join(config, 'toolcrib', 'config.json'), '{"budgets": {"callSeconds": 1}}');
  writeFileSync(join(folder, 'slow.js'), "setTimeout(() => console.log('done at last'), 1500)");
  const call = (...args: string[]) =>
    spawnSync(process.execPath, [program, 'call', ...args], {
      cwd: folder,
      encoding: 'utf8',
      env: { ...process.env, XDG_CONFIG_HOME: config },
    });
  expect(call('node_run', 'file=slow.js', '--questions', 'none').stdout).toMatch(/^done at last$/m);
  const { status, stderr } = call('run', 'command=true', 'background=true');
  expect(stderr).toContain('a job ends with its server');
  expect(status).toBe(2);
});
