import { afterAll, beforeAll, expect, it } from 'vitest';
import { person, says } from '../guarantees/person.ts';
import type { Session } from '../guarantees/session.ts';
import { makeWorld } from '../guarantees/world.ts';

const count = `let bytes = 0;
  for await (const chunk of process.stdin) bytes += chunk.length;
  console.log(bytes);`;
const copy = 'process.stdin.pipe(process.stdout);';

const world = makeWorld({ 'count.mjs': count, 'copy.mjs': copy });
const ada = person(says.yes);
let session: Session;
beforeAll(async () => {
  session = await world.open({ person: ada });
});
afterAll(() => world.end());

const run = (command: string, input: string) => session.does({ name: 'run', arguments: { command, input } });

it('gives a program, and the first of a pipe, the longest input that there may be', async () => {
  const input = '漢'.repeat(100_000);
  for (const line of ['node count.mjs', 'node copy.mjs | node count.mjs'])
    expect(await run(line, input), line).toEqual({ refused: false, text: '300000' });
});

it('refuses a longer input before anybody is asked, and says the limit and a way that works', async () => {
  ada.asked.length = 0;
  const { refused, text } = await run('node count.mjs', 'x'.repeat(3_000_000));
  expect(refused).toBe(true);
  expect(text).toMatch(/^ARG_INVALID: input: is too long: expected at most 100,000 characters\. .*cat FILE/);
  expect(ada.asked).toEqual([]);
  world.write('long.txt', 'x'.repeat(3_000_000));
  const line = 'cat long.txt | node count.mjs';
  const piped = await session.does({ name: 'run', arguments: { command: line } });
  expect(piped).toEqual({ refused: false, text: '3000000' });
});
