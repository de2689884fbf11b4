import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { until } from '../support/until.ts';
import { jobIn, runFile, startJob, stopJob, waitForJob } from './acts.ts';
import { person, says } from './person.ts';
import { expectEnded, expectRunning, family, membersIn } from './processes.ts';
import { eras, type Session } from './session.ts';
import { makeWorld } from './world.ts';

/** Prints a line and goes on at a sign of the test, or when there is nobody left to give it. */
const patient = `import { appendFileSync, existsSync } from 'node:fs';
const [work] = process.argv.slice(2);
appendFileSync(work + '.runs', 'run\\n');
let step = 0;
const begun = Date.now();
const watch = setInterval(() => {
  if (existsSync(work + '.talk') && step < 5) console.log('step', ++step);
  if (existsSync(work + '.go')) { console.log('built'); clearInterval(watch); }
  if (Date.now() - begun > 60_000) process.exit(1);
}, 20);
`;

const world = makeWorld({ 'patient.mjs': patient, 'family.mjs': family });
// A call answers after a second here, whatever it has.
world.configure({ budgets: { callSeconds: 1 } });
afterAll(() => world.end());

describe.each(eras)('the server, in %s', (era) => {
  let session: Session;
  beforeAll(async () => {
    session = await world.open({ era, person: person(says.yes) });
  });
  /** One build, of which a test says how it goes on. */
  const work = (name: string) => {
    const file = join(world.outside, `${name}-${era}`);
    return {
      build: runFile('patient.mjs', file),
      talk: () => writeFileSync(`${file}.talk`, ''),
      goOn: () => writeFileSync(`${file}.go`, ''),
      runs: () => readFileSync(`${file}.runs`, 'utf8').split('\n').length - 1,
    };
  };

  it('ATTACK 103: makes a job of a call that takes long, and the same call attaches to it', async () => {
    const { build, goOn, runs } = work('long');
    const first = await session.does(build);
    expect(jobIn(first.text)).toBeTruthy();
    expect(jobIn((await session.does(build)).text)).toBe(jobIn(first.text));
    goOn();
    const said: string[] = [];
    await until(async () => /\bbuilt\b/.test(said[said.push((await session.does(build)).text) - 1] ?? ''));
    expect(runs()).toBe(1);
  });

  it('waits for a job, and returns what it has printed', async () => {
    const { build, talk, goOn } = work('waited');
    const started = (await session.does(startJob(build))).text;
    talk();
    goOn();
    expect(await session.gets(waitForJob(started))).toMatch(/built/);
  });

  it('ends all that a job has started when it is stopped', async () => {
    const started = (await session.does(startJob(runFile('family.mjs', 'stay')))).text;
    const members = await membersIn(world.project);
    expectRunning(members);
    await session.gets(stopJob(started));
    await expectEnded(members);
  });

  it('reports no progress after the answer, though the job goes on', async () => {
    const { build, talk, goOn } = work('ended');
    const { text } = await session.does(build, { onprogress: () => undefined });
    expect(session.complaints).toEqual([]);
    talk();
    goOn();
    await session.gets(waitForJob(text));
    expect(session.complaints).toEqual([]);
  });
});
