import { afterAll, expect, it } from 'vitest';
import { runFile, startJob, status, writeFile } from './acts.ts';
import { person, says } from './person.ts';
import { expectEnded, expectRunning, family, membersIn } from './processes.ts';
import { eras } from './session.ts';
import { makeWorld } from './world.ts';

const world = makeWorld({ 'family.mjs': family });
afterAll(() => world.end());

it.each(eras)(
  'ATTACK 102: ends all that was running when the server itself is killed, in %s',
  async (era) => {
    const session = await world.open({ era, person: person(says.yes) });
    const call = session.does(runFile('family.mjs', 'stay'));
    const members = await membersIn(world.project);
    expectRunning(members);
    process.kill(session.pid, 'SIGKILL');
    await call;
    await expectEnded(members);
  },
);

const call = runFile('family.mjs', 'stay');
it.each([
  ['SIGTERM', 'calls', call],
  ['SIGINT', 'jobs', startJob(call)],
] as const)('ATTACK 102: a server that gets %s ends its %s with itself', async (signal, _what, act) => {
  const session = await world.open({ person: person(says.yes) });
  const done = session.does(act);
  const members = await membersIn(world.project);
  expectRunning(members);
  process.kill(session.pid, signal);
  await done;
  await expectEnded(members);
});

it('leaves a file whole when it is killed while it writes, and works after that', async () => {
  const version = (letter: string) => `${letter.repeat(2_000_000)}\n`;
  world.write('whole.txt', version('a'));
  for (let turn = 0; turn < 3; turn++) {
    const session = await world.open();
    await session.gets(writeFile(`new-${turn}.txt`, version('a')));
    const writing = session.does(writeFile(`new-${turn}.txt`, version('b')));
    for (let tick = 0; tick < turn * 30; tick++) await new Promise(setImmediate);
    process.kill(session.pid, 'SIGKILL');
    await writing;
    expect([version('a'), version('b')]).toContain(world.read(`new-${turn}.txt`));
  }
  await (await world.open()).gets(status());
});
