import { utimesSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import {
  blame,
  commit,
  createBranch,
  deletePath,
  editFile,
  fileAt,
  log,
  looks,
  movePath,
  operator,
  readFile,
  readFiles,
  resetHard,
  restoreFiles,
  runFile,
  runProgram,
  searchCommitted,
  searchText,
  show,
  stage,
  status,
  writeFile,
} from './acts.ts';
import { person, says } from './person.ts';
import type { Session } from './session.ts';
import { makeWorld } from './world.ts';

const world = makeWorld({ 'hi.mjs': "console.log('hi');" });
const ada = person();
/** Of somebody who cannot be asked. */
let alone: Session;
let looking: Session;
let ruled: Session;
beforeAll(async () => {
  const rules = [
    ...[commit(''), runFile(''), deletePath('')].flatMap(operator.denies),
    ...operator.allowsProgram('git --version'),
  ];
  alone = await world.open({ args: ['--expose', 'all'] });
  looking = await world.open({ person: ada, args: operator.readOnly });
  ruled = await world.open({ person: ada, args: rules });
});
beforeEach(() => ada.will(says.yes));
afterAll(() => world.end());

const changing = () => [
  writeFile('new.txt', 'x'),
  writeFile('README.md', 'x'),
  editFile('README.md', 'Example', 'x'),
  deletePath('README.md'),
  movePath('README.md', 'x.md'),
  stage('src/a.txt'),
  commit('x'),
  createBranch('x'),
  restoreFiles('src/a.txt'),
  resetHard(),
];
const running = () => [runFile('hi.mjs'), runProgram('touch', 'stolen')];

async function refuses(session: Session, acts: ReturnType<typeof changing>): Promise<void> {
  const before = world.snapshot();
  for (const act of acts) {
    const { refused, text } = await session.does(act);
    expect(refused, `${act.name}: ${text}`).toBe(true);
  }
  expect(world.snapshot()).toEqual(before);
}
const annotationsIn = async ({ client }: Session) =>
  new Map((await client.listTools()).tools.map(({ name, annotations = {} }) => [name, annotations]));

it('ATTACK 107: changes nothing by a tool that declares that it only reads', async () => {
  world.write('src/a.txt', 'one\nchanged\n');
  // What git would refresh its index for.
  utimesSync(join(world.project, 'README.md'), 1, 1);
  const before = world.snapshot();
  const annotations = await annotationsIn(alone);
  for (const act of looks()) {
    await alone.gets(act);
    expect(annotations.get(act.name), act.name).toMatchObject({ readOnlyHint: true });
  }
  expect(world.snapshot()).toEqual(before);
});

it('declares no tool that changes or runs something as one that only reads', async () => {
  const annotations = await annotationsIn(alone);
  for (const { name } of [...changing(), ...running()])
    expect(annotations.get(name)?.readOnlyHint, name).toBe(false);
  for (const { name } of [...running(), resetHard()])
    expect(annotations.get(name)?.destructiveHint, name).toBe(true);
});

it('changes and runs nothing when the operator sets read-only, whoever says yes', async () => {
  await refuses(looking, [...changing(), ...running()]);
  expect(ada.asked).toEqual([]);
  const offered = await annotationsIn(looking);
  for (const { name } of [...changing(), ...running()]) expect([...offered.keys()]).not.toContain(name);
  await looking.gets(status());
  await looking.gets(readFile('README.md'));
});

it('lists the tools of the sets that the operator names, and answers to no others', async () => {
  const session = await world.open({ person: ada, args: operator.onlyFiles });
  const names = [...(await annotationsIn(session)).keys()];
  expect(names).toContain(readFile('').name);
  for (const { name } of [status(), ...running()]) expect(names).not.toContain(name);
  await refuses(session, [status(), log(), ...running()]);
});

it('does nothing that a rule of the operator denies, whoever says yes', async () => {
  await refuses(ruled, [commit('x'), runFile('hi.mjs'), deletePath('README.md')]);
  expect(ada.asked).toEqual([]);
  await ruled.gets(status());
});

it('asks nobody about a command that a rule of the operator allows, and about any other', async () => {
  expect(await ruled.gets(runProgram('git', '--version'))).toMatch(/^git version/);
  expect(ada.asked).toEqual([]);
  ada.will(says.no);
  for (const act of [runProgram('git', '--exec-path'), runProgram('touch', 'stolen')])
    expect((await ruled.does(act)).refused).toBe(true);
  expect(ada.asked).toHaveLength(2);
  expect(world.has('stolen')).toBe(false);
});

it('keeps a path from every tool that a rule of the operator denies', async () => {
  world.write('conf/.env', 'LEVEL=one\n');
  const session = await world.open({ args: operator.deniesPath('**/.env') });
  await session.gets(readFile('README.md'));
  for (const act of [
    readFile('conf/.env'),
    readFiles('README.md', 'conf/.env'),
    writeFile('conf/.env', 'x'),
    editFile('conf/.env', 'one', 'two'),
    deletePath('conf/.env'),
    movePath('conf/.env', 'seen.txt'),
  ]) {
    const { refused, text } = await session.does(act);
    expect(refused || !text.includes('LEVEL=one'), act.name).toBe(true);
    expect(text).not.toContain('LEVEL=one');
  }
  expect(world.read('conf/.env')).toBe('LEVEL=one\n');
  for (const act of [searchText('LEVEL'), searchText('LEVEL', 'conf'), searchText('LEVEL', 'conf/.env')])
    expect((await session.does(act)).text).not.toContain('LEVEL=one');
});

it('keeps a path that a rule denies where it is, also when the folder around it is moved', async () => {
  world.write('kept/key.txt', 'LEVEL=one\n');
  const session = await world.open({ args: operator.deniesPath('kept/key.txt') });
  await session.does(movePath('kept', 'seen'));
  expect((await session.does(readFile('seen/key.txt'))).text).not.toContain('LEVEL=one');
});

it('keeps a path that a rule denies also from what git knows of it', async () => {
  world.write('conf/.env', 'LEVEL=one\n');
  world.git('add', '--force', 'conf/.env');
  world.git('commit', '--quiet', '--message=secret');
  const session = await world.open({ args: operator.deniesPath('**/.env') });
  for (const act of [fileAt('conf/.env'), blame('conf/.env'), show(), searchCommitted('LEVEL')])
    expect.soft((await session.does(act)).text, act.name).not.toContain('LEVEL=one');
});

it('lets a file of the project widen nothing, and narrow what is allowed', async () => {
  world.write('.toolcrib.json', JSON.stringify({ readOnly: false, scripts: true }));
  await refuses(looking, changing());
  await refuses(alone, running());
  world.write('.toolcrib.json', JSON.stringify({ readOnly: true }));
  await refuses(alone, [writeFile('new.txt', 'x'), ...running()]);
});
