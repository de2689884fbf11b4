import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  also,
  commit,
  fetchFrom,
  operator,
  pushTo,
  resetHard,
  restoreFiles,
  runFile,
  runLine,
  runProgram,
  runScript,
  stage,
  undoLast,
  writeFile,
} from './acts.ts';
import { until } from '../support/until.ts';
import { connectWithPerson } from '../support/person.ts';
import { person, reading, says } from './person.ts';
import { eras, program, type Session } from './session.ts';
import { leavesAMark, makeWorld } from './world.ts';

describe.each(eras)('a question in %s', (era) => {
  const world = makeWorld(leavesAMark);
  const ada = person();
  let session: Session;
  beforeAll(async () => {
    session = await world.open({ era, person: ada });
  });
  beforeEach(() => {
    ada.will(says.no);
    rmSync(join(world.project, 'ran'), { force: true });
  });
  afterAll(() => world.end());
  const linesAsked = () => ada.asked[0]?.message.split('\n') ?? [];

  it('takes the button for a yes to this time', async () => {
    ada.will(says.yes, says.no);
    await session.gets(runProgram('env', 'node', 'run.mjs', 'one'));
    expect(world.read('ran')).toBe('one');
    expect((await session.does(runProgram('env', 'node', 'run.mjs', 'two'))).refused).toBe(true);
  });

  it('requires no field to be filled in', async () => {
    await session.does(runProgram('printf', 'hi'));
    expect(ada.asked).toHaveLength(1);
    expect(ada.asked[0]?.form.required ?? []).toEqual([]);
    const { properties = {} } = ada.asked[0]?.form ?? {};
    expect(Object.keys(properties)).toEqual(['trust', 'always']);
    expect(Object.values(properties).map((field) => field.default)).toEqual(['no', 'this time']);
  });

  it.each([
    [
      'what would be run',
      runProgram('env', 'node', 'run.mjs', 'two words'),
      /node run\.mjs ['"]two words['"]/,
    ],
    [
      'what would be written',
      writeFile('.vscode/tasks.json', '{\n}\n'),
      /write \.vscode\/tasks\.json \(\+2 -0\)/,
    ],
    ['line ends of a script', runProgram('sh', '-c', 'echo one\necho two'), /echo one\\(?:n|u\{a\})echo two/],
    [
      'line ends of what is read',
      also(runProgram('sh'), { input: 'echo one\necho two' }),
      /one\\(?:n|u\{a\})echo/,
    ],
    // It says first that its end is missing.
    [
      'how long an act is that is cut off',
      runProgram('env', 'node', 'run.mjs', 'x'.repeat(3000), 'the end'),
      /^\(3,0\d\d characters, the end is not shown\) env node run\.mjs x+ …$/,
    ],
  ])('shows on its first line exactly %s', async (_, act, says) => {
    await session.does(act);
    expect(linesAsked()[0]).toMatch(says);
  });

  it('has its reason and its folder on the second and the third line', async () => {
    await session.does(runProgram('env', 'node', 'run.mjs'));
    expect(linesAsked()[1]).toMatch(/trust|program/i);
    expect(linesAsked()[2]).toContain(world.project);
  });

  it('is reported to the model when nobody was there to answer it', async () => {
    ada.will(says.noAtOnce);
    // Where the machine is too busy to say so at once, it is somebody's answer.
    const said = async () => (await session.does(runProgram('env', 'node', 'run.mjs'))).text;
    await until(async () => /nobody was there/i.test(await said()));
    expect(world.has('ran')).toBe(false);
  });
});

describe.each(eras)('trust in %s', (era) => {
  const world = makeWorld(leavesAMark);
  const ada = person();
  let session: Session;
  beforeAll(async () => {
    session = await world.open({ era, person: ada });
  });
  afterAll(() => world.end());

  it('is not given by a yes to an act', async () => {
    world.write('src/old.txt', '');
    ada.will(says.yes, says.no);
    await session.gets(runProgram('rm', 'src/old.txt'));
    expect(world.has('src/old.txt')).toBe(false);
    expect((await session.does(runFile('run.mjs'))).refused).toBe(true);
    expect(ada.asked).toHaveLength(2);
  });

  it('is asked for in a question of its own, which names what it opens', async () => {
    ada.will(says.no);
    await session.does(runFile('run.mjs', 'two'));
    const [first, second, third] = ada.asked[0]?.message.split('\n') ?? [];
    expect(first).toBe(`Trust ${world.project}?`);
    expect(second).toBe('Its code may run, install packages, use the network, write with git.');
    expect(third).toBe('For node run.mjs two: it runs code of this folder');
    expect(ada.asked[0]?.form.properties ?? {}).toEqual({});
  });

  it('can be given beside a yes to an act', async () => {
    ada.will(says.trust, says.no);
    await session.gets(runProgram('printf', 'hi'));
    await session.gets(runFile('run.mjs'));
    expect(ada.asked).toHaveLength(1);
  });
});

describe('an accept that comes faster than anybody reads', () => {
  it.each([
    ['to an act', runProgram('env', 'node', 'run.mjs', 'fast')],
    ['to trust', runFile('run.mjs', 'fast')],
    ['to a protected file', writeFile('.envrc', 'export A=1\n')],
  ])('is not taken for an answer %s', async (_, act) => {
    // Where the machine is too busy to say so at once, it is somebody's answer.
    await until(async () => {
      const world = makeWorld(leavesAMark);
      const session = await world.open({ person: person(says.yesAtOnce) });
      const { text } = await session.does(act);
      const isNobodys = /nobody was there/.test(text);
      if (isNobodys) expect([world.has('ran'), world.has('.envrc')]).toEqual([false, false]);
      await world.end();
      return isNobodys;
    });
  });
});

describe('a choice in a form', () => {
  const world = makeWorld(leavesAMark);
  const ada = person();
  afterAll(() => world.end());

  it.each([
    { trust: 'yes:' },
    { trust: 'yes: something else' },
    { always: 'always: other' },
    { trust: 'no', always: 'this time' },
  ])('lasts only where it is one of the choices of the question: %j', async (content) => {
    const session = await world.open({ person: ada });
    ada.will(async () => {
      await reading();
      return { action: 'accept', content };
    }, says.no);
    await session.does(runProgram('printf', 'hi'));
    expect((await session.does(runFile('run.mjs'))).refused).toBe(true);
    expect((await session.does(runProgram('printf', 'hi'))).refused).toBe(true);
  });

  it('is required of a host that accepts all else by itself', async () => {
    const options = { roots: [world.project], env: { ...world.env }, cwd: world.project };
    const form = { form: {} };
    const client = await connectWithPerson(
      '2025-11-25',
      (one) => ada.answer(one),
      options,
      form,
      'codex-mcp-client',
    );
    ada.will(says.no);
    await client.callTool({ ...writeFile('.envrc', 'x') });
    await client.close();
    expect(ada.asked[0]?.form.properties).toMatchObject({ answer: { enum: ['yes'] } });
  });
});

describe('project settings that cannot be read', () => {
  const world = makeWorld({ '.toolcrib.json': '{ "readOnyl": true }', 'sub/.toolcrib.json': '{}' });
  const mend = { ...writeFile('.toolcrib.json', '{}') };
  const ada = person(says.yes);
  afterAll(() => world.end());

  it.each([
    ['--questions', 'none'],
    ['--questions', 'host'],
    ['--rule', 'write(**/*.json)=allow'],
    ['--rule', '*=allow'],
  ])('are mended by nobody but a person: %s %s', async (...args) => {
    const session = await world.open({ args });
    for (const _time of [1, 2]) expect((await session.does(mend)).refused).toBe(true);
    expect(world.read('.toolcrib.json')).toContain('readOnyl');
  });

  it('are mended by a yes, and no other settings file is', async () => {
    const session = await world.open({ person: ada });
    expect((await session.does(writeFile('sub/.toolcrib.json', '{"readOnly": false}'))).refused).toBe(true);
    expect(ada.asked).toEqual([]);
    await session.does(mend);
    await session.gets(mend);
    expect(world.read('.toolcrib.json')).toBe('{}');
  });
});

describe('a server whose host asks the questions', () => {
  const world = makeWorld(leavesAMark);
  let session: Session;
  beforeAll(async () => {
    session = await world.open({ args: operator.questions('host') });
  });
  afterAll(() => world.end());

  it.each([
    ['pushing', pushTo('origin'), /--rule 'run\(git push .*\)=allow'/],
    ['losing work', resetHard(), /--rule 'run\(git reset --hard .*\)=allow'/],
    ['a file that others run', writeFile('.envrc', ''), /--rule 'write\(.*\.envrc\)=allow'/],
  ])('refuses %s with the rule that would allow it', async (_, act, rule) => {
    const { refused, text } = await session.does(act);
    expect(refused).toBe(true);
    expect(text).toMatch(rule);
  });
});

describe('a folder that nobody has trusted', () => {
  const world = makeWorld(leavesAMark);
  let alone: Session;
  beforeAll(async () => {
    alone = await world.open();
  });
  afterAll(() => world.end());

  it('is not written to by git', async () => {
    world.write('src/a.txt', 'changed\n');
    const before = world.snapshot();
    for (const act of [stage('src/a.txt'), commit('x'), restoreFiles('src/a.txt')])
      expect((await alone.does(act)).refused).toBe(true);
    expect(world.snapshot()).toEqual(before);
  });

  it('is not connected to the network by its programs', async () => {
    world.git('remote', 'add', 'origin', 'https://example.invalid/x.git');
    const { refused, text } = await alone.does(fetchFrom('origin'));
    expect(refused).toBe(true);
    expect(text).toMatch(/trust/);
  });

  it('runs its code when the host asks by itself', async () => {
    const session = await world.open({ args: operator.questions('host') });
    await session.gets(runFile('run.mjs', 'host'));
    expect(world.read('ran')).toBe('host');
  });

  it('is not asked about when the operator says that nobody is there', async () => {
    const ada = person(says.yes);
    const session = await world.open({ person: ada, args: operator.questions('none') });
    await session.does(runFile('run.mjs'));
    expect(ada.asked).toEqual([]);
  });
});

describe('a folder that a person has trusted', () => {
  const world = makeWorld(leavesAMark);
  const ada = person();
  let session: Session;
  beforeAll(async () => {
    execFileSync(process.execPath, [program, 'trust', '--yes', world.project], {
      env: world.env,
      stdio: 'pipe',
    });
    session = await world.open({ person: ada, checkpoints: true });
  });
  beforeEach(() => ada.will(says.no));
  afterAll(() => world.end());

  it('has its first state kept as soon as a call needs the trust', async () => {
    await session.gets(stage('src/a.txt'));
    const states = join(world.state, 'toolcrib', 'checkpoints');
    const names = () => readdirSync(states, { recursive: true, encoding: 'utf8' });
    await expect
      .poll(() => existsSync(states) && names().some((name) => name.endsWith('current')))
      .toBe(true);
  });

  it('stays trusted when its files change', async () => {
    world.write('package.json', JSON.stringify({ name: 'shop', scripts: { hi: 'node run.mjs other' } }));
    world.write('vitest.config.js', 'export default {};\n');
    await session.gets(runScript('hi'));
    expect(ada.asked).toEqual([]);
  });

  it('stays trusted in folders that are made', async () => {
    world.write('build/run.mjs', leavesAMark['run.mjs']);
    await session.gets(runFile('build/run.mjs'));
    expect(ada.asked).toEqual([]);
  });

  it('is not asked about when a file is restored and can be brought back', async () => {
    world.write('src/a.txt', 'changed\n');
    await session.gets(restoreFiles('src/a.txt'));
    expect(world.read('src/a.txt')).toBe('one\ntwo\nthree\n');
    expect(ada.asked).toEqual([]);
  });

  it('is not asked about when all changes are reset and can be brought back', async () => {
    world.write('src/a.txt', 'changed\n');
    await session.gets(resetHard());
    expect(ada.asked).toEqual([]);
    expect(world.read('src/a.txt')).toBe('one\ntwo\nthree\n');
    await session.gets(undoLast());
    expect(world.read('src/a.txt')).toBe('changed\n');
  });

  it('is asked about when lost work would not be kept', async () => {
    world.write('.gitignore', 'ran\nsrc/\n');
    world.write('src/a.txt', 'changed\n');
    // That git has it does not say that it is kept: for who ignores it, it is only looked at when it was seen before.
    world.write('src/b.txt', 'one\n');
    world.git('add', '--force', 'src/b.txt');
    expect((await session.does(resetHard())).refused).toBe(true);
    expect(ada.asked).toHaveLength(1);
    expect(world.has('src/b.txt')).toBe(true);
    // Also where git is set not to see that it has changed.
    world.git('commit', '--quiet', '--message=ignored');
    world.git('update-index', '--assume-unchanged', 'src/b.txt');
    world.write('src/b.txt', 'mine\n');
    expect((await session.does(resetHard())).refused).toBe(true);
    expect(world.read('src/b.txt')).toBe('mine\n');
  });

  it('is not asked about the exact line to which the person has said always', async () => {
    ada.will(says.always, says.no);
    await session.gets(runProgram('printf', 'hi'));
    await session.gets(runProgram('printf', 'hi'));
    expect(ada.asked).toHaveLength(1);
    for (const act of [
      runProgram('printf', 'hi', 'again'),
      runProgram('printf'),
      also(runProgram('printf', 'hi'), { input: 'x' }),
      runLine('printf hi | printf hi'),
      runLine('A=1 printf hi'),
    ])
      expect((await session.does(act)).refused).toBe(true);
    expect(ada.asked).toHaveLength(6);
  });
});
