import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { chatHelp } from '../../src/cli/chat-help.ts';
import { serveHelp } from '../../src/cli/serve-help.ts';
import { help } from '../../src/cli/main.ts';
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

it('says its version, and helps', () => {
  expect(toolcrib(['--version'])).toMatchObject({
    status: 0,
    stdout: expect.stringMatching(/^\d+\.\d+\.\d+\n$/),
  });
  for (const args of [[], ['--help'], ['help'], ['call', '-h']]) {
    expect(toolcrib(args)).toEqual({ status: 0, stdout: help, stderr: '' });
  }
  expect(toolcrib(['chat', '--help'])).toEqual({ status: 0, stdout: chatHelp, stderr: '' });
  expect(toolcrib(['serve', '--help'])).toEqual({ status: 0, stdout: serveHelp, stderr: '' });
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
  [['serve', '--rule', 'git_push=ask', '--rule', 'git_push=deny'], 'only one of them'],
  [['serve', '--rule', 'read(**/.env)=ask'], 'a rule about reading files can only deny'],
  [['serve', '--questions', 'hots'], '--questions hots: there is no such way; did you mean host?'],
  [['serve', '--allow', 'execute'], "--allow any more; use --rule 'run(npm test*)=allow'"],
  [
    ['call', 'git_log', '--ask', 'network'],
    "there is no option --ask any more; use --rule 'run(git push*)=ask'",
  ],
  [['try', '--deny', 'destroy'], "--deny any more; use --rule 'run(git push*)=deny', or --read-only"],
  [['serve', '--when-unasked=allow'], '--when-unasked any more; use --questions none where nobody is there'],
  [['call', '--rule', 'git_push'], '=allow, =ask or =deny is expected'],
  [['list', '--al'], "Unknown option '--al'"],
  [['call', 'git_log', '--limit', '3'], 'limit=…'],
  [['call', 'git_log', '--root', '/no/such/folder'], 'there is no such folder'],
  [['try', '--root', '/no/such/folder'], 'there is no such folder'],
  [['call', 'git_statsu', '--help'], 'there is no tool'],
  [['call', 'git_log', 'paths=[src]'], 'is no JSON'],
  [['call', 'git_log', '--json', '{'], '--json:'],
  [['call', 'git_log', '--json', '[]'], 'expected an object'],
  [['call', 'git_log', '--json', '{}', 'limit=1'], 'not both'],
  [['call', 'git_log', 'limit'], 'expected key=value'],
] as const)('%j is a wrong command line, said in one line', (args, message) => {
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

it('lists the tools, and tells the parameters of one', () => {
  expect(toolcrib(['call']).stdout).toMatch(/^git_status +Branch, upstream/m);
  expect(toolcrib(['call', 'git_log', '--help']).stdout).toMatch(/^ {2}limit {2}\(integer, default 20\)/m);
});

it('does not mind when nobody reads to the end', () => {
  const line = `'${process.execPath}' '${program}' list --all | head -c 1; exit \${PIPESTATUS[0]}`;
  const { status, stderr } = spawnSync('bash', ['-c', line], { encoding: 'utf8' });
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
});

it('fails with 1 when the tool fails, and says why', () => {
  const { folder } = temporaryRepository();
  expect(toolcrib(['call', 'read_file', 'path=/etc/passwd'], folder)).toMatchObject({
    status: 1,
    stdout: expect.stringMatching(/^PATH_OUTSIDE_ROOTS/),
  });
  expect(toolcrib(['call', 'git_statsu'], folder)).toMatchObject({
    status: 1,
    stderr: expect.stringContaining('Did you mean git_status?'),
  });
});

it('reaches the current folder and nothing else, unless told', () => {
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

it('tries itself in a repository', () => {
  const { folder } = temporaryRepository();
  const { status, stdout, stderr } = toolcrib(['try'], folder);
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  for (const part of [
    '> list_programs',
    '> git_status',
    'on main at ',
    '> grep',
    '> read_file',
    '# Example',
    '"mcpServers"',
    folder,
  ]) {
    expect(stdout).toContain(part);
  }
});

it('tries itself in a folder that is no repository, and in an empty one', () => {
  const folder = temporaryFolder();
  expect(toolcrib(['try'], folder)).toMatchObject({
    status: 0,
    stdout: expect.stringContaining('> list_files'),
  });
  mkdirSync(join(folder, 'sub'));
  writeFileSync(join(folder, 'package.json'), '{"name": "x", "scripts": {"test": "true"}}');
  expect(toolcrib(['try'], folder)).toMatchObject({
    status: 0,
    stdout: expect.stringContaining('> read_file path=package.json'),
  });
});

it('call waits for what takes longer than a call may, and does not start what would end with it', () => {
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
