import { mkdirSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { trustCommand } from '../../src/cli/trust.ts';
import { UsageError } from '../../src/cli/usage.ts';
import { createTrust } from '../../src/machine/trust/trust.ts';
import { temporaryFolder, temporaryRepository } from '../support/repository.ts';

/** A repository, and a person who answers; without an answer there is no terminal. */
function setUp(answer?: string) {
  const { folder, git } = temporaryRepository();
  const base = temporaryFolder();
  const trust = createTrust({ folder: join(base, 'toolcrib') });
  const questions: string[] = [];
  const ask = async (question: string) => (questions.push(question), answer ?? '');
  const run = async (...args: string[]) => {
    let printed = '';
    const print = (text: string) => void (printed += text);
    const code = await trustCommand(args, { trust, print, ...(answer !== undefined && { ask }) });
    return { code, printed };
  };
  return { folder, git, base, trust, questions, run };
}

const meaning = `\
A model may then run this folder's own code without asking: its tests, builds, scripts and git hooks, and let git write.
What can lose work for good or changes what others see is still asked about.
`;

it('says what trust means, and trusts the repository when the person says so', async () => {
  const { folder, git, questions, trust, run } = setUp('y');
  git('remote', 'add', 'origin', 'https://ada:secret@example.org/a.git');
  const printed = `${folder}: a git repository, from https://example.org/a.git
${meaning}toolcrib trust --revoke takes it back.\n`;
  expect(await run(join(folder, 'src'))).toEqual({ code: 0, printed });
  expect(questions).toEqual(['Trust this folder? [y/N] ']);
  expect(await trust.isTrusted(folder)).toBe(true);
  expect((await run(folder)).printed).toContain('\nIt is trusted.\n');
  expect(questions).toHaveLength(1);
});

it.each(['', 'n', 'no', 'yellow', 'Y?', 'always'])('does not take %j for a yes', async (answer) => {
  const { folder, trust, run } = setUp(answer);
  const printed = `${folder}: a git repository\n${meaning}It is not trusted.\n`;
  expect(await run(folder)).toEqual({ code: 1, printed });
  expect(await trust.isTrusted(folder)).toBe(false);
});

it('lists and revokes, also what is another one by now, or gone', async () => {
  const { folder, base, trust, run } = setUp();
  expect((await run('--list')).printed).toBe('No folder is trusted.\n');
  await run('--yes', folder);
  await trust.always.add(folder, { kind: 'prefix', program: 'npx', words: ['\u001b[31mvitest\nx'] });
  const line = `${folder}  trusted ${new Date().toISOString().slice(0, 10)}`;
  expect((await run('--list')).printed).toBe(`${line}\n  always: npx "\\u001b[31mvitest\\nx" …\n`);
  renameSync(folder, join(base, 'moved'));
  mkdirSync(folder);
  expect((await run('--list')).printed).toContain(`${line}, another one by now: asked again\n`);
  expect(await run('--revoke', folder)).toEqual({ code: 0, printed: `${folder} is not trusted any more.\n` });
  expect(await run('--revoke', folder)).toMatchObject({ code: 1 });
  await run('--yes', folder);
  rmSync(folder, { recursive: true });
  symlinkSync(join(base, 'moved'), folder);
  expect(await run('--revoke', folder)).toMatchObject({ code: 0 });
  expect(await trust.list()).toEqual([]);
});

it('is data for programs', async () => {
  const { folder, run } = setUp();
  const json = async (...args: string[]) => JSON.parse((await run('--json', ...args)).printed) as unknown;
  expect(await json(folder)).toEqual({ folder, trusted: false });
  expect(await json('--yes', folder)).toEqual({ folder, trusted: true });
  expect(await json('--list')).toMatchObject({ folders: [{ folder, current: true, always: [] }] });
  expect(await json('--revoke', folder)).toEqual({ folder, revoked: true });
});

it('shows names that cannot command the terminal or pass for another line', async () => {
  const { base, run } = setUp('n');
  const folder = join(base, 'a\n\u001b[2J\u202e');
  mkdirSync(folder);
  const { printed } = await run(folder);
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
])('%j is a wrong command line', async (args, message) => {
  const { run } = setUp();
  await expect(run(...args)).rejects.toThrow(UsageError);
  await expect(run(...args)).rejects.toThrow(message);
});
