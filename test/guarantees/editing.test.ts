import { chmodSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { deletePath, editFile, movePath, readFile, runFile, undo, undoLast, writeFile } from './acts.ts';
import { person, says } from './person.ts';
import type { Session } from './session.ts';
import { makeWorld } from './world.ts';

const world = makeWorld({
  'wipe.mjs': `import { rmSync, writeFileSync } from 'node:fs';
    rmSync('src', { recursive: true });
    writeFileSync('README.md', 'wiped');
    rmSync('notes.txt');`,
});
let session: Session;
beforeAll(async () => {
  session = await world.open({ person: person(says.yes) });
});
afterAll(() => world.end());

it('changes the bytes of an edit and no others: line ends, byte order mark, mode, last line', async () => {
  const before = '\ufefffirst\r\nsecond\nthird\r\n\tlast without an end';
  world.write('exact.sh', before, 0o751);
  await session.gets(readFile('exact.sh'));
  await session.gets(editFile('exact.sh', 'second', '2nd'));
  expect(world.read('exact.sh')).toBe(before.replace('second', '2nd'));
  expect(statSync(join(world.project, 'exact.sh')).mode & 0o777).toBe(0o751);
});

it('shows any reader of a file the old content or the new one, and never a part', async () => {
  const version = (number: number) => `${number}\n${'x'.repeat(300_000)}\n${number}\n`;
  const seen = new Set<string>();
  await session.gets(writeFile('whole.txt', version(0)));
  for (let number = 1; number <= 5; number++) {
    let done = false;
    const writing = session.gets(writeFile('whole.txt', version(number))).finally(() => {
      done = true;
    });
    while (!done) {
      const content = readFileSync(join(world.project, 'whole.txt'), 'utf8');
      seen.add(content === version(Number.parseInt(content, 10)) ? 'whole' : 'part');
      await new Promise(setImmediate);
    }
    await writing;
  }
  expect([...seen]).toEqual(['whole']);
});

it('loses none of several edits that are made at once', async () => {
  const names = ['one', 'two', 'three', 'four', 'five', 'six'];
  world.write('many.txt', `${names.join('\n')}\n`);
  await session.gets(readFile('many.txt'));
  const outcomes = await Promise.all(
    names.map((name) => session.does(editFile('many.txt', `${name}\n`, `${name}!\n`))),
  );
  const expected = names.map((name, at) => (outcomes[at]?.refused ? name : `${name}!`));
  expect(world.read('many.txt')).toBe(`${expected.join('\n')}\n`);
});

it('shows a call that comes with an edit, and after it, what the edit wrote', async () => {
  for (const word of ['first', 'second', 'third']) {
    const [, said] = await Promise.all([
      session.gets(writeFile('turn.txt', `${word}\n${'x'.repeat(100_000)}\n`)),
      session.gets(readFile('turn.txt:1')),
    ]);
    expect(said).toContain(word);
  }
});

it('brings back what was edited, overwritten, moved, deleted and made', async () => {
  world.write('back/a.txt', 'as it was\r\n', 0o640);
  chmodSync(join(world.project, 'back', 'a.txt'), 0o640);
  const before = world.snapshot();
  const path = 'back/a.txt';
  const acts = [
    editFile(path, 'it was', 'it is'),
    writeFile(path, 'something else'),
    movePath(path, 'back/b.txt'),
    deletePath(path),
    deletePath('back'),
    writeFile('back/new.txt', 'new'),
  ];
  for (const act of acts) {
    await session.gets(readFile(path));
    const said = await session.gets(act);
    expect(world.snapshot()).not.toEqual(before);
    await session.gets(undo(said));
    expect(world.snapshot()).toEqual(before);
  }
});

it('undoes nothing when somebody has changed the file since', async () => {
  world.write('since.txt', 'one\n');
  await session.gets(readFile('since.txt'));
  const said = await session.gets(editFile('since.txt', 'one', 'two'));
  world.write('since.txt', 'three\n');
  expect(await session.does(undo(said))).toMatchObject({ refused: true });
  expect(world.read('since.txt')).toBe('three\n');
});

it('brings back what code of the project has destroyed, whether git knew it or not', async () => {
  const own = await world.open({ person: person(says.yes), checkpoints: true });
  world.write('notes.txt', 'not yet in git\n');
  world.write('src/a.txt', 'changed, not committed\n');
  await own.gets(runFile('wipe.mjs'));
  expect(world.has('src')).toBe(false);
  await own.gets(undoLast());
  expect(world.read('notes.txt')).toBe('not yet in git\n');
  expect(world.read('src/a.txt')).toBe('changed, not committed\n');
  expect(world.read('README.md')).toBe('# Example\n');
});
