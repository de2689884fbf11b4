import { spawnSync } from 'node:child_process';
import { mkdirSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { createTrust } from '../../src/machine/trust/trust.ts';
import { startInTerminal } from '../repl/support/pty.ts';
import { temporaryFolder, temporaryRepository } from '../support/repository.ts';
import { inherited, program } from '../support/server.ts';

/** A repository, and `toolcrib trust` of somebody who trusts nothing yet, without a terminal or in one. */
function setUp() {
  const { folder, git } = temporaryRepository();
  const base = temporaryFolder();
  const trust = createTrust({ folder: join(base, 'toolcrib') });
  const env = { ...inherited(), XDG_STATE_HOME: base };
  const run = (...args: string[]) => {
    const argv = [program, 'trust', ...args];
    const { status, stdout, stderr } = spawnSync(process.execPath, argv, { env, encoding: 'utf8' });
    return { code: status, printed: stdout, said: stderr };
  };
  const inTerminal = (...args: string[]) =>
    startInTerminal([process.execPath, program, 'trust', ...args], { env, cols: 150 });
  return { folder, git, base, trust, run, inTerminal };
}

const meaning = `\
A model may then run this folder's own code without asking: its tests, builds, scripts and git hooks, and let git write.
What can lose work for good or changes what others see is still asked about.
`;

it('explains what trust means, and trusts the repository when the person agrees', async () => {
  const { folder, git, trust, run, inTerminal } = setUp();
  git('remote', 'add', 'origin', 'https://ada:secret@example.org/a.git');
  const terminal = inTerminal(join(folder, 'src'));
  await terminal.sees('Trust this folder? [y/N]');
  expect(terminal.scrollback()).toContain(
    `${folder}: a git repository, from https://example.org/a.git\n${meaning}`,
  );
  terminal.type('y\r');
  await terminal.sees('toolcrib trust --revoke takes it back.');
  expect(await trust.isTrusted(folder)).toBe(true);
  expect(run(folder).printed).toContain('\nIt is trusted.\n');
});

it.each(['', 'yellow', 'always'])('does not take %j for a yes', async (answer) => {
  const { folder, trust, inTerminal } = setUp();
  const terminal = inTerminal(folder);
  await terminal.sees('Trust this folder? [y/N]');
  terminal.type(`${answer}\r`);
  await terminal.sees('It is not trusted.');
  expect(await trust.isTrusted(folder)).toBe(false);
});

it('lists and revokes trust, also of a folder that was replaced or is gone', async () => {
  const { folder, base, trust, run } = setUp();
  expect(run('--list').printed).toBe('No folder is trusted.\n');
  run('--yes', folder);
  await trust.always.add(folder, { act: '[]', words: 'exactly \u001b[31mvitest\nx', effects: ['execute'] });
  const line = `${folder}  trusted ${new Date().toISOString().slice(0, 10)}`;
  expect(run('--list').printed).toBe(`${line}\n  always: exactly \\u{1b}[31mvitest\\u{a}x\n`);
  renameSync(folder, join(base, 'moved'));
  mkdirSync(folder);
  expect(run('--list').printed).toContain(`${line}, another one by now: asked again\n`);
  expect(run('--revoke', folder)).toMatchObject({ code: 0, printed: `${folder} is not trusted any more.\n` });
  expect(run('--revoke', folder)).toMatchObject({ code: 1 });
  run('--yes', folder);
  rmSync(folder, { recursive: true });
  symlinkSync(join(base, 'moved'), folder);
  expect(run('--revoke', folder)).toMatchObject({ code: 0 });
  expect(await trust.list()).toEqual([]);
});

it('prints JSON for programs with --json', () => {
  const { folder, run } = setUp();
  const json = (...args: string[]) => JSON.parse(run('--json', ...args).printed) as unknown;
  expect(json(folder)).toEqual({ folder, trusted: false });
  expect(json('--yes', folder)).toEqual({ folder, trusted: true });
  expect(json('--list')).toMatchObject({ folders: [{ folder, current: true, always: [] }] });
  expect(json('--revoke', folder)).toEqual({ folder, revoked: true });
});

it('shows names that cannot command the terminal or pass for another line', () => {
  const { base, run } = setUp();
  const folder = join(base, 'a\n\u001b[2J\u202e');
  mkdirSync(folder);
  const { printed } = run('--yes', folder);
  expect(printed).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u202e]/);
  expect(printed.split('\n')).toHaveLength(5);
});

it.each([
  [['--list', 'x'], '--list takes only --json'],
  [['a', 'b'], 'one folder at a time'],
  [['/no/such/folder'], 'there is no such folder'],
  [['--yes', '/'], '/ is the root of a file system; trust projects, one by one'],
  [['--yes', homedir()], 'is the home folder'],
  [['.'], 'there is no terminal to ask on; --yes trusts'],
  [['--lst'], 'did you mean --list?'],
])('refuses %j as a wrong command line', (args, message) => {
  expect(setUp().run(...args)).toMatchObject({ code: 2, said: expect.stringContaining(message) as unknown });
});
