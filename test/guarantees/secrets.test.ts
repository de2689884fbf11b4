import { afterAll, beforeAll, expect, it } from 'vitest';
import { diff, editFile, fileAt, readFile, runFile, searchText, show } from './acts.ts';
import { person, says } from './person.ts';
import type { Session } from './session.ts';
import { makeWorld } from './world.ts';

/** The value of one of the server's own variables. */
const ofTheServer = 'Zq8vT3mK7pLw2NxR5bYd';
/** Has the shape of a token of a service. */
const ofAService = `ghp_${'aB3dE6gH9jK2'.repeat(3)}`;
const both = [ofTheServer, ofAService];

const text = `first line\nmine: ${ofTheServer}\ntheirs: ${ofAService}\nlast line\n`;
const world = makeWorld({
  'notes.txt': text,
  'tell.mjs': `import { readFileSync } from 'node:fs';
    console.log(readFileSync('notes.txt', 'utf8'));
    console.error(readFileSync('notes.txt', 'utf8'));
    if (process.argv[2] === 'fail') process.exit(1);`,
});
let session: Session;
beforeAll(async () => {
  session = await world.open({ person: person(says.yes), env: { SHOP_API_TOKEN: ofTheServer } });
});
afterAll(() => world.end());

const expectHidden = (said: string) => {
  for (const secret of both) expect(said).not.toContain(secret);
};

it('hides the values of its own variables and what looks like a token, wherever it reads', async () => {
  for (const act of [readFile('notes.txt'), searchText('line|mine|theirs'), fileAt('notes.txt'), show()]) {
    const said = await session.gets(act);
    expect(said).toContain('first line');
    expectHidden(said);
  }
  expectHidden(await session.gets(diff('4b825dc642cb6eb9a060e54bf8d69288fbee4904')));
});

it('hides secrets in what a program prints, in its progress, and in its failure', async () => {
  const progress: string[] = [];
  const told = await session.gets(runFile('tell.mjs'), {
    onprogress: ({ message = '' }) => progress.push(message),
  });
  const failed = await session.does(runFile('tell.mjs', 'fail'));
  expect(failed.refused).toBe(true);
  for (const said of [told, failed.text, ...progress]) expectHidden(said);
});

it('changes no file by hiding: an edit beside a secret leaves it as it is', async () => {
  await session.gets(readFile('notes.txt'));
  expectHidden(await session.gets(editFile('notes.txt', 'last line', 'the end')));
  expect(world.read('notes.txt')).toBe(text.replace('last line', 'the end'));
});
