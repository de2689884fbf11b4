import { join } from 'node:path';
import { mkdirSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runFile, runProgram, status } from './acts.ts';
import { person, says } from './person.ts';
import { expectEnded, expectRunning, family, membersIn } from './processes.ts';
import { eras, type Session } from './session.ts';
import { makeWorld } from './world.ts';

const world = makeWorld({
  'family.mjs': family,
  // Goes on at a sign of the test.
  'steps.mjs': `import { existsSync } from 'node:fs';
    console.log('step 1');
    const watch = setInterval(() => {
      if (!existsSync(process.argv[2])) return;
      clearInterval(watch);
      console.log('step 2');
    }, 20);`,
  'env.mjs': 'console.log(JSON.stringify(process.env));',
  'input.mjs': `import { openSync, readFileSync } from 'node:fs';
    let terminal = 'a terminal';
    try { openSync('/dev/tty', 'r'); } catch { terminal = 'no terminal'; }
    console.log(readFileSync(0).length, terminal, Boolean(process.stdin.isTTY), Boolean(process.stdout.isTTY));`,
});
/** Variables of the host that are none of a program's business. */
const ofTheHost = {
  SHOP_DATABASE_SECRET: 'x1y2z3',
  AWS_SECRET_ACCESS_KEY: 'a1b2c3',
  SOMETHING_HARMLESS: 'harmless',
  NODE_OPTIONS: '--no-warnings',
  GIT_EXTERNAL_DIFF: 'evil',
  BASH_ENV: '/nowhere',
  ANTHROPIC_API_KEY: 'd4e5f6',
  LD_PRELOAD: '',
};
/** The folder of the project's programs, on the search path of the server. */
const planted = ['node_modules/.bin', 'bin'].map((folder) => join(world.project, folder));
let session: Session;
beforeAll(async () => {
  for (const folder of planted) {
    mkdirSync(folder, { recursive: true });
    // What the machine does not have is the project's own, in the folder where it keeps such.
    for (const name of ['git', 'node', ...(folder === planted[1] ? ['only-here'] : [])])
      world.write(`${folder.slice(world.project.length + 1)}/${name}`, world.trap(), 0o755);
  }
  const PATH = [...planted, '.', '', world.env['PATH']].join(':');
  session = await world.open({ person: person(says.yes), env: { ...ofTheHost, PATH } });
});
afterAll(() => world.end());

it('ATTACK 95: gives a program none of the server’s variables but those it may have', async () => {
  const env = JSON.parse(await session.gets(runFile('env.mjs'))) as Record<string, string>;
  for (const name of Object.keys(ofTheHost)) expect(env).not.toHaveProperty(name);
  expect(env['HOME']).toBe(world.home);
});

it('gives a program no folder of the project to find others in', async () => {
  const { PATH = '' } = JSON.parse(await session.gets(runFile('env.mjs'))) as Record<string, string>;
  expect(PATH.split(':')).toContain(world.bin);
  for (const folder of [...planted, '.', '']) expect(PATH.split(':')).not.toContain(folder);
});

it('ATTACK 97: gives a program an empty input and no terminal', async () => {
  expect(await session.gets(runFile('input.mjs'))).toMatch(/^0 no terminal false false/);
});

it('ATTACK 45, 47: takes no program of the project for the machine’s', async () => {
  await session.gets(status());
  await session.gets(runFile('env.mjs'));
  expect(await session.gets(runProgram('git', '--version'))).toMatch(/^git version/);
  for (const name of ['only-here', 'C:only-here', '.', '..'])
    expect((await session.does(runProgram(name))).refused).toBe(true);
  expect(world.sprung()).toBe(false);
});

it('runs a program of the project when its path is named', async () => {
  await session.gets(runProgram('./bin/only-here'));
  expect(world.sprung()).toBe(true);
});

it('reports that a program failed, how, and what it printed last', async () => {
  world.write('fail.mjs', `console.error('no such customer'); process.exit(3);`);
  const { refused, text } = await session.does(runFile('fail.mjs'));
  expect(refused).toBe(true);
  expect(text).toMatch(/\b3\b/);
  expect(text).toContain('no such customer');
});

it('ends what a program has left behind when the program ends', async () => {
  await session.gets(runFile('family.mjs'));
  await expectEnded(await membersIn(world.project));
});

describe.each(eras)('the server, in %s', (era) => {
  let own: Session;
  beforeAll(async () => {
    own = await world.open({ era, person: person(says.yes) });
  });

  it('reports progress that only grows while a program runs', async () => {
    const go = join(world.outside, `go-${era}`);
    const seen: { progress: number; message?: string | undefined }[] = [];
    await own.gets(runFile('steps.mjs', go), {
      onprogress(one) {
        seen.push(one);
        writeFileSync(go, '');
      },
    });
    expect(seen.map(({ message }) => message)).toContain('step 1');
    expect(seen.map(({ progress }) => progress)).toEqual(seen.map((_, at) => at + 1));
  });

  it('ATTACK 102: ends all that a call has started when it is cancelled', async () => {
    const cancelling = new AbortController();
    const call = own.does(runFile('family.mjs', 'stay'), { signal: cancelling.signal });
    const failed = expect(call).rejects.toThrow();
    const members = await membersIn(world.project);
    expectRunning(members);
    cancelling.abort();
    await failed;
    await expectEnded(members);
    await own.gets(status());
  });

  it('ATTACK 102: ends all that a call has started when its client goes away', async () => {
    const call = own.does(runFile('family.mjs', 'stay'));
    const members = await membersIn(world.project);
    expectRunning(members);
    await own.close();
    await call;
    await expectEnded(members);
  });
});
