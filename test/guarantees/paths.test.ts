import { execFileSync, spawn } from 'node:child_process';
import { symlinkSync } from 'node:fs';
import { basename, join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import {
  blame,
  deletePath,
  editFile,
  fileAt,
  findFiles,
  inFolder,
  listFolder,
  movePath,
  readFile,
  runFile,
  searchText,
  stage,
  status,
  writeFile,
  type Act,
} from './acts.ts';
import { person, says } from './person.ts';
import type { Session } from './session.ts';
import { makeWorld, secretText } from './world.ts';

const world = makeWorld({ 'show.mjs': 'console.log(1);', 'src/deep/b.txt': 'b\n' });
let session: Session;
/** Whose only root is that of the file system. */
let everywhere: Session;
beforeAll(async () => {
  session = await world.open({ person: person(says.yes) });
  await session.gets(runFile('show.mjs'));
  everywhere = await world.open({ roots: ['/'], person: person(says.yes) });
});
afterAll(() => world.end());

/** Everything that takes the path of a file, with this one. */
const actsOn = (file: string): Act[] => [
  readFile(file),
  writeFile(file, 'changed'),
  editFile(file, secretText, 'changed'),
  deletePath(file),
  movePath(file, 'stolen.txt'),
  movePath('README.md', `${file}.new`),
  searchText('secret', file),
  blame(file),
  fileAt(file),
  stage(file),
  runFile(file),
];
/** The same for a folder. */
const actsIn = (folder: string): Act[] => [
  listFolder(folder),
  searchText('secret', folder),
  findFiles(`${folder}/*`),
  inFolder(folder, status()),
  ...actsOn(`${folder}/secret.txt`),
];

async function refusesAll(acts: readonly Act[]): Promise<void> {
  const before = world.snapshot();
  for (const act of acts) {
    const { refused, text } = await session.does(act);
    expect(refused || !text.includes('secret.txt'), `${JSON.stringify(act)}: ${text}`).toBe(true);
    expect(text).not.toContain(secretText);
  }
  expect(world.snapshot()).toEqual(before);
}

it('opens nothing outside the roots, however the path is written', async () => {
  const neighbour = basename(world.outside);
  await refusesAll(
    [world.outside, `../${neighbour}`, `src/../../${neighbour}`, `${world.project}/../${neighbour}`].flatMap(
      actsIn,
    ),
  );
});

it('takes no folder whose name begins like a root for part of it', async () => {
  await refusesAll([`${world.project}-secret/secret.txt`, `../project-secret/secret.txt`].flatMap(actsOn));
});

it('follows no link that leads out', async () => {
  symlinkSync(world.outside, join(world.project, 'link'));
  symlinkSync(join(world.outside, 'secret.txt'), join(world.project, 'linked.txt'));
  const linked = actsOn('linked.txt').filter(
    // A link itself may be moved, deleted and staged: that touches nothing outside.
    ({ name }) => ![deletePath(''), movePath('', ''), stage('')].some((one) => one.name === name),
  );
  await refusesAll([...actsIn('link'), ...linked]);
});

it('shows and changes nothing outside while a link is swapped again and again', async () => {
  world.write('inner/secret.txt', 'of the project\n');
  const swapping = spawn(process.execPath, ['-e', swap], {
    cwd: world.project,
    env: { ...world.env, OUTSIDE: world.outside },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const ended = new Promise((resolve) => swapping.once('exit', resolve));
  await new Promise((resolve) => swapping.stdout.once('data', resolve));
  const said: string[] = [];
  for (let turn = 0; turn < 40; turn++) {
    const acts = [readFile('swap/secret.txt'), writeFile(`swap/new-${turn}`, 'x')];
    if (turn % 10 === 0) acts.push(searchText('secret', 'swap'));
    for (const { text } of await Promise.all(acts.map((act) => session.does(act)))) said.push(text);
  }
  swapping.kill();
  await ended;
  expect(said.join('\n')).not.toContain(secretText);
  expect(Object.keys(world.snapshot()).filter((path) => path.startsWith(world.outside))).toHaveLength(2);
});

/** A link that leads to a folder of the project and to the neighbour in turn. */
const swap = `const fs = require('fs');
for (let turn = 0; ; turn++) {
  for (const to of ['inner', process.env.OUTSIDE]) { fs.symlinkSync(to, 'next'); fs.renameSync('next', 'swap'); }
  if (turn === 0) console.log('ready');
}`;

it('refuses a path with a NUL in it', async () => {
  await refusesAll(actsOn('src/a.txt\0.png'));
});

it('calls a path with a NUL a wrong path, and not a wrong setting', async () => {
  for (const act of actsOn('src/a.txt\0.png')) expect((await session.does(act)).text).not.toContain('CONFIG');
});

it.skipIf(process.platform === 'win32')('reads only regular files, and does not hang on others', async () => {
  execFileSync('mkfifo', [join(world.project, 'pipe')]);
  expect((await session.does(readFile('pipe'))).refused).toBe(true);
  expect((await session.does(searchText('x', 'pipe'))).refused).toBe(true);
  expect((await session.does(writeFile('pipe', 'x'))).refused).toBe(true);
});

it.runIf(process.platform === 'linux')('reads nothing of the kernel, whatever the roots are', async () => {
  for (const path of ['/proc/self/environ', '/proc/self/root/etc/passwd', '/sys/power/state']) {
    expect((await everywhere.does(readFile(path))).refused, path).toBe(true);
    expect((await everywhere.does(searchText('.', path))).text).not.toMatch(/PATH=|root:/);
  }
  expect((await everywhere.does(writeFile('/proc/self/comm', 'x'))).refused).toBe(true);
});

it('neither shows nor changes what toolcrib keeps for itself, whatever the roots are', async () => {
  for (const act of [
    listFolder(join(world.state, 'toolcrib')),
    writeFile(join(world.state, 'toolcrib', 'x'), 'x'),
    writeFile(join(world.env['XDG_CONFIG_HOME'] ?? '', 'toolcrib', 'config.json'), '{}'),
  ])
    expect((await everywhere.does(act)).refused, JSON.stringify(act)).toBe(true);
  expect((await session.does(writeFile('.toolcrib.json', '{}'))).refused).toBe(true);
  expect(world.has('.toolcrib.json')).toBe(false);
});

it('lets nobody make a folder named like its settings file, which would stop it', async () => {
  const { refused } = await session.does(writeFile('.toolcrib.json/x', '{}'));
  if (!refused) await session.gets(deletePath('.toolcrib.json'));
  expect(refused).toBe(true);
});
