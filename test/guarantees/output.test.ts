import { afterAll, beforeAll, expect, it } from 'vitest';
import {
  also,
  keptOutput,
  outputEnd,
  outputMatches,
  outputPage,
  readFile,
  runFile,
  searchText,
  status,
} from './acts.ts';
import { person, says } from './person.ts';
import type { Session } from './session.ts';
import { makeWorld } from './world.ts';

const lines = 50_000;
/** More than any answer holds. */
const bounds = 20_000;

const world = makeWorld({
  'talk.mjs': `for (let line = 1; line <= ${lines}; line++) console.log('this is line', line);`,
  'one.mjs': "process.stdout.write('x'.repeat(6e7))",
  'colour.mjs': String.raw`console.log('\u001b[31mred\u001b[0m\u001b]0;title\u0007 a\u202eb')`,
});
let session: Session;
let said: string;
beforeAll(async () => {
  session = await world.open({ person: person(says.yes) });
  said = await session.gets(runFile('talk.mjs'));
});
afterAll(() => world.end());

const linesIn = (page: string) => [...page.matchAll(/this is line (\d+)/g)].map(([, line]) => Number(line));

it('ATTACK 99: answers with the beginning and the end of what is long, and names the rest', async () => {
  expect(said.length).toBeLessThan(bounds);
  const one = await session.gets(runFile('one.mjs'));
  expect(one.length).toBeLessThan(bounds);
  expect(one).toMatch(/\[… [\d,]+ characters left out here; read_output id=/);
  expect(said).toMatch(/^this is line 1\n/);
  expect(said).toContain(`this is line ${lines}`);
  expect(keptOutput(said).arguments).not.toEqual({});
});

it('keeps all of what is long, and gives any page of it, its end, and what is searched for', async () => {
  const page = await session.gets(outputPage(said, 25_000, 3));
  expect(linesIn(page)).toEqual([25_000, 25_001, 25_002]);
  expect(linesIn(await session.gets(outputEnd(said, 2)))).toEqual([lines - 1, lines]);
  expect(linesIn(await session.gets(outputMatches(said, 'line 31415$')))).toEqual([31_415]);
});

it('keeps an answer short, whatever a file or a search holds', async () => {
  world.write('long.txt', 'a line that is found\n'.repeat(lines));
  for (let index = 0; index < 2000; index++) world.write(`new/${index}-with-a-rather-long-name.txt`, '');
  world.write('wide.txt', `found ${'x'.repeat(2_000_000)}\n`);
  const all = also(status(), { untracked: 'all' });
  for (const act of [readFile('long.txt'), readFile('wide.txt'), searchText('found'), all])
    expect((await session.does(act)).text.length).toBeLessThan(3 * bounds);
});

it('ATTACK 44: shows nothing that commands a terminal or hides', async () => {
  expect(await session.gets(runFile('colour.mjs'))).toMatch(/^red ab/);
});
