import { totalmem } from 'node:os';
import { afterAll, describe, expect, it } from 'vitest';
import { runFile, runLine, startJob, stopJob } from '../guarantees/acts.ts';
import { person, says } from '../guarantees/person.ts';
import { expectEnded, expectRunning, family, membersIn } from '../guarantees/processes.ts';
import { makeWorld } from '../guarantees/world.ts';

/** Ten megabytes at a time, in itself or in its children; it ends well when it is asked to. */
const fills = `import { spawn } from 'node:child_process';
const [size, children = '0'] = process.argv.slice(2);
process.once('SIGTERM', () => process.exit(0));
for (let at = 0; at < Number(children); at++)
  spawn(process.execPath, ['fills.mjs', String(size / children)], { detached: true, stdio: 'inherit' });
const held = [];
let bytes = 0;
const fill = () => {
  if (bytes >= size) return console.log('filled');
  if (children === '0') held.push(Buffer.alloc(10e6, 1));
  bytes += 10e6;
  setTimeout(fill, 5);
};
fill();
setInterval(() => held.length, 1000);
`;
/** Maps and touches: what it holds is what it touches. */
const maps = `const { Memory } = WebAssembly;
const memories = Array.from({ length: 20 }, () => new Memory({ initial: 1, maximum: 65536 }));
const held = Buffer.alloc(20e6, 1);
setTimeout(() => console.log('built', memories.length, held.length), 3000);
`;

const world = makeWorld({ 'fills.mjs': fills, 'maps.mjs': maps, 'family.mjs': family });
// A hundredth, so that little is enough.
world.configure({ budgets: { memoryPercent: 1 } });
afterAll(() => world.end());
const most = totalmem() / 100;
const isEnded =
  /it was ended, with all it had started: it held [\d.]+ GB of memory; .*budgets\.memoryPercent/;
const open = () => world.open({ person: person(says.yes) });

describe.skipIf(process.platform !== 'linux')('a program that holds too much memory', () => {
  const size = String(Math.round(most * 4));
  it.each([
    ['a line', runLine(`node fills.mjs ${size}`)],
    ['an action', runFile('fills.mjs', size)],
    ['a pipe', runLine(`node fills.mjs ${size} | cat`)],
    ['its children, which left its group', runLine(`node fills.mjs ${size} 4`)],
    ['a pattern', runLine("grep -E '((((a{1,100}){1,100}){1,100}){1,100})' README.md")],
  ])('is ended when the memory is that of %s', async (_, act) => {
    const session = await open();
    const { refused, text } = await session.does(act);
    expect(text).toMatch(isEnded);
    expect(refused).toBe(true);
  });

  it('is ended alone, while other programs and the server go on', async () => {
    const session = await open();
    const beside = await session.gets(startJob(runFile('family.mjs', 'stay')));
    const members = await membersIn(world.project);
    expect((await session.does(runLine(`node fills.mjs ${size}`))).text).toMatch(isEnded);
    expectRunning(members);
    await session.gets(stopJob(beside));
    await expectEnded(members);
  });

  it('is not one that maps much memory and uses little', async () => {
    const session = await open();
    expect(await session.gets(runLine('node --max-old-space-size=16384 maps.mjs'))).toMatch(/^built 20 /m);
  });
});
