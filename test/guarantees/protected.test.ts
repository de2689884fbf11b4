import { symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { editFile, movePath, readFile, undo, writeFile, type Act } from './acts.ts';
import { person, says } from './person.ts';
import type { Session } from './session.ts';
import { makeWorld } from './world.ts';

/** Files that others run or obey. */
const obeyed = [
  '.git/hooks/pre-commit',
  '.git/config',
  '.vscode/tasks.json',
  '.mcp.json',
  '.claude/settings.json',
  '.envrc',
  '.husky/pre-commit',
  '.bashrc',
  '.config/fish/config.fish',
  '.ssh/authorized_keys',
  'sub/.git/hooks/post-checkout',
];

const world = makeWorld();
const ada = person();
let asking: Session;
let alone: Session;
beforeAll(async () => {
  asking = await world.open({ person: ada });
  alone = await world.open({ era: '2025-11-25' });
});
beforeEach(() => ada.will(says.no));
afterAll(() => world.end());

async function changesNothing(session: Session, acts: readonly Act[]): Promise<void> {
  const before = world.snapshot();
  for (const act of acts) {
    const { refused, text } = await session.does(act);
    expect(refused, `${JSON.stringify(act)}: ${text}`).toBe(true);
  }
  expect(world.snapshot()).toEqual(before);
}

it('ATTACK 63: writes no file that others run when nobody can be asked, whichever tool tries', async () => {
  world.write('harmless.txt', 'echo 1\n');
  await alone.gets(readFile('harmless.txt'));
  await changesNothing(alone, [
    ...obeyed.map((path) => writeFile(path, 'echo 1\n')),
    ...obeyed.map((path) => movePath('harmless.txt', path)),
  ]);
});

it('leaves a file that others run alone under every name that means it', async () => {
  world.write('harmless.txt', 'echo 1\n');
  symlinkSync('.git', join(world.project, 'other-name'));
  await changesNothing(
    alone,
    ['.GIT/hooks/pre-commit', '.git./config', '.git /config', '.git\u200b/config', '.VSCode/Tasks.json']
      .concat('other-name/config')
      .map((path) => writeFile(path, 'echo 1\n')),
  );
});

it('leaves a file that others run as it is when the person says no', async () => {
  await changesNothing(
    asking,
    obeyed.map((path) => writeFile(path, 'echo 1\n')),
  );
});

it('asks each time before it changes a file that others run, and before it changes it back', async () => {
  ada.will(says.yes);
  const written = await asking.gets(writeFile('.envrc', 'export A=1\n'));
  const edited = await asking.gets(editFile('.envrc', 'A=1', 'A=2'));
  expect(ada.asked).toHaveLength(2);
  for (const { message } of ada.asked) expect(message).toContain('.envrc');
  ada.will(says.no);
  expect((await asking.does(undo(edited))).refused).toBe(true);
  expect((await asking.does(editFile('.envrc', 'A=2', 'A=3'))).refused).toBe(true);
  expect(world.read('.envrc')).toBe('export A=2\n');
  ada.will(says.yes);
  await asking.gets(undo(edited));
  await asking.gets(undo(written));
  expect(world.has('.envrc')).toBe(false);
  expect(ada.asked).toHaveLength(2);
});

it('asks nobody about a change of an ordinary file', async () => {
  for (const path of ['package.json', 'Makefile', '.github/workflows/ci.yml', 'src/index.ts', 'CLAUDE.md'])
    await alone.gets(writeFile(path, '{}\n'));
  await asking.gets(writeFile('src/new.ts', 'export {};\n'));
  expect(ada.asked).toEqual([]);
});
