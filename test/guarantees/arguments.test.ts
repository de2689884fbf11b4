import { afterAll, beforeAll, expect, it } from 'vitest';
import {
  also,
  branches,
  commit,
  createBranch,
  diff,
  fetchFrom,
  fileAt,
  log,
  pushTo,
  readFile,
  runFile,
  runScript,
  searchCommitted,
  searchText,
  show,
  stage,
} from './acts.ts';
import { person, says } from './person.ts';
import type { Session } from './session.ts';
import { makeWorld } from './world.ts';

const world = makeWorld({
  'show.mjs': 'console.log(JSON.stringify(process.argv.slice(2)));',
  'package.json': JSON.stringify({ name: 'shop', scripts: { hi: 'echo hi' } }),
});
let session: Session;
beforeAll(async () => {
  session = await world.open({ person: person(says.yes) });
  await session.gets(runFile('show.mjs'));
});
afterAll(() => world.end());

it('ATTACK 90, 91: hands each value to a program as one argument, unread by any shell', async () => {
  const args = [
    'a  b',
    '',
    '$HOME',
    '`touch p`',
    '$(touch p)',
    '; touch p',
    '| touch p',
    '> p',
    '*',
    "it's",
    '--c d',
  ];
  expect(JSON.parse(await session.gets(runFile('show.mjs', ...args)))).toEqual(args);
  expect(world.has('p')).toBe(false);
});

it('ATTACK 90: takes a commit message for text, whatever a shell would make of it', async () => {
  const message = 'x; touch p && $(touch p) `touch p` | touch p > p "quoted\' * ~ %PATH%';
  world.write('src/a.txt', 'changed\n');
  await session.gets(stage('src/a.txt'));
  await session.gets(commit(message));
  expect(world.git('log', '-1', '--format=%s').trim()).toBe(message);
  expect(world.has('p')).toBe(false);
});

it('ATTACK 5, 13: refuses what could be read as an option, and addresses in the place of names', async () => {
  world.git('remote', 'add', 'origin', 'https://example.invalid/x.git');
  const before = world.snapshot();
  for (const act of [
    log('--output=stolen'),
    show('--output=stolen'),
    diff('--output=stolen'),
    fileAt('README.md', '--help'),
    createBranch('--force'),
    fetchFrom('--upload-pack=touch stolen'),
    pushTo('--receive-pack=touch stolen'),
    pushTo('origin', '--mirror'),
    pushTo('origin', '+main'),
    pushTo('origin', ':main'),
    pushTo('origin', 'main:other'),
    fetchFrom('../outside'),
    fetchFrom('https://example.invalid/x.git'),
    stage('--all'),
    runFile('--eval=1'),
    runScript('--prefix=/'),
  ]) {
    const { refused, text } = await session.does(act);
    expect(refused, `${JSON.stringify(act)}: ${text}`).toBe(true);
  }
  expect(world.snapshot()).toEqual(before);
});

it('takes a pattern that begins with a dash for a pattern', async () => {
  world.write('src/dash.txt', 'one -Otouch two\n');
  expect(await session.gets(searchText('-Otouch'))).toContain('src/dash.txt');
  expect((await session.does(searchCommitted('-Otouch'))).text).not.toContain('stolen');
});

it('refuses a parameter that it does not know', async () => {
  for (const act of [
    also(readFile('README.md'), { follow: true }),
    also(log(), { args: ['--output=stolen'] }),
    also(runFile('show.mjs'), { env: { NODE_OPTIONS: '--inspect' } }),
    also(branches(), { shell: true }),
  ]) {
    const { refused, text } = await session.does(act);
    expect(refused, text).toBe(true);
  }
});

it('ends a search whose pattern would keep a backtracking engine for ever', async () => {
  world.write('src/long.txt', `${'a'.repeat(5000)}!\n`);
  expect((await session.does(searchText('(a+)+$', 'src'))).text).not.toContain('long.txt');
});

it('gives a pattern to git as a fixed string', async () => {
  world.write('src/fixed.txt', 'needle\n');
  world.git('add', '.');
  world.git('commit', '--quiet', '--message=Needle');
  expect(await session.gets(searchCommitted('needle'))).toContain('src/fixed.txt');
  expect((await session.does(searchCommitted('n.*e'))).text).not.toContain('src/fixed.txt');
});
