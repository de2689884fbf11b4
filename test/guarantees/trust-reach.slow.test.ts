import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { inFolder, runFile, runProgram, runScript } from './acts.ts';
import { person, says } from './person.ts';
import { makeRepository, makeWorld } from './world.ts';

describe('trust in a folder', () => {
  const world = makeWorld({
    'package.json': JSON.stringify({ name: 'shop', scripts: { hi: 'echo hi' } }),
  });
  const other = join(world.project, 'vendor', 'other');
  const ada = person();
  beforeAll(async () => {
    makeRepository(other, world.env, 'of somebody else');
    world.git('-C', other, 'remote', 'add', 'origin', 'https://example.org/other');
    world.write('vendor/other/run.mjs', "console.log('ran')");
    ada.will(says.yes);
    await (await world.open({ person: ada })).gets(runScript('hi'));
  });
  afterAll(() => world.end());

  it('does not cover code of another repository that is named from there', async () => {
    ada.will(says.no);
    const session = await world.open({ person: ada });
    expect((await session.does(runFile('vendor/other/run.mjs'))).refused).toBe(true);
    expect(ada.asked[0]?.message).toMatch(new RegExp(`^Trust ${other} from \\S+\\?\n.*\nFor node`));
  });

  it('does not reach into another folder, and neither does an "always"', async () => {
    ada.will(says.always);
    const session = await world.open({ person: ada });
    await session.gets(runProgram('cksum', 'README.md'));
    ada.will(says.no);
    await session.gets(runProgram('cksum', 'README.md'));
    expect(ada.asked).toEqual([]);
    const elsewhere = [
      runProgram('cksum', 'README.md', 'src/a.txt'),
      inFolder('src', runProgram('cksum', 'README.md')),
      inFolder(other, runProgram('cksum', 'README.md')),
    ];
    for (const act of elsewhere) expect((await session.does(act)).refused).toBe(true);
    expect(ada.asked).toHaveLength(elsewhere.length);
  });

  it('does not cover another folder that takes its place, whatever its inode number', async () => {
    const reborn = makeWorld();
    const plain = join(reborn.outside, 'plain');
    for (let tries = 0; tries < 3; tries++) {
      rmSync(plain, { recursive: true, force: true });
      mkdirSync(plain);
      writeFileSync(join(plain, 'run.mjs'), '');
      ada.will(says.yes);
      await (await reborn.open({ roots: [plain], person: ada })).gets(runFile('run.mjs'));
      expect(ada.asked).toHaveLength(1);
    }
    await reborn.end();
  });

  it('is not kept for a folder that the question does not show whole', async () => {
    const long = makeWorld();
    const deep = join(long.outside, 'x'.repeat(200));
    mkdirSync(deep);
    writeFileSync(join(deep, 'run.mjs'), '');
    ada.will(says.yes);
    const session = await long.open({ roots: [deep], person: ada });
    for (const times of [1, 2]) {
      await session.gets(runFile('run.mjs'));
      expect(ada.asked).toHaveLength(times);
    }
    await long.end();
  });

  it('is asked for one folder at a time', async () => {
    const two = makeWorld({ 'run.mjs': '' });
    const session = await two.open({ roots: [two.project, world.project], person: ada });
    const { text } = await session.does(inFolder(other, runFile(join(two.project, 'run.mjs'))));
    await two.end();
    expect(text).toMatch(/^NEEDS_CONFIRM: Several folders/);
  });
});
