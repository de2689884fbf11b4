import { execFileSync } from 'node:child_process';
import { mkdirSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { also, log, pushTo, runLine, runProgram, show } from '../guarantees/acts.ts';
import { person, says } from '../guarantees/person.ts';
import { program, type Session } from '../guarantees/session.ts';
import { makeWorld, secretText } from '../guarantees/world.ts';

// Command lines that only look, and lines to which somebody has said always.

const world = makeWorld({ '.env': `KEY=${secretText}\n`, 'notes.txt': 'a note\n' });
const secret = join(world.outside, 'secret.txt');

/** Ways to name a file outside of the root: by a link, behind one, glued to an option, from a list, by recursion. */
const linesThatLook: readonly string[] = [
  'cat e/../secret.txt',
  'cat e/secret.txt',
  'cat link.txt',
  'cat src/../e/../secret.txt',
  'cat ./e/deep/../../secret.txt',
  `cat ${secret}`,
  'cat ../outside/secret.txt',
  `cat /proc/self/root${secret}`,
  'head -c 100 e/../secret.txt',
  'head -n1 e/../secret.txt',
  'tail -n 1 e/../secret.txt',
  'tail -c+1 e/../secret.txt',
  'nl e/../secret.txt',
  'wc -l --files0-from=e/list',
  'wc --files0-from e/../secret.txt',
  'du --files0-from=e/../secret.txt',
  'sed -n 1p e/../secret.txt',
  "sed -n '1,$p' e/../secret.txt",
  'sort e/../secret.txt',
  'sort -u -- e/../secret.txt',
  'sort --files0-from=e/list',
  'uniq e/../secret.txt',
  'cut -c1-80 e/../secret.txt',
  'tr a-z A-Z | cat e/../secret.txt',
  'cmp -l e/../secret.txt notes.txt',
  'grep -r secret e/..',
  'grep -R secret .',
  'grep -nR . .',
  'grep --dereference-recursive secret .',
  'grep --deref secret .',
  `grep -f${secret} ${secret}`,
  'grep -orfe/../secret.txt e/../secret.txt',
  'grep -h . e/../secret.txt',
  'egrep . e/../secret.txt',
  'fgrep e e/../secret.txt',
  'ls -LR .',
  'ls -l e/..',
  'ls e/',
  'ls -R e',
  'find -L . -name secret.txt',
  'find e/.. -type f',
  'find e/ -name "*"',
  'find . -follow',
  'stat e/../secret.txt',
  'realpath e/../secret.txt',
  'cat .env',
  'cat ./src/../.env',
  'grep -r KEY .',
  'grep KEY .env',
  'cat notes.txt e/../secret.txt',
  'echo e/../secret.txt | xargs cat',
];
const shows = (text: string) => text.includes(secretText) || /^secret\.txt$|\/secret\.txt$/m.test(text);

beforeAll(() => {
  mkdirSync(join(world.outside, 'inner', 'deep'), { recursive: true });
  symlinkSync(join(world.outside, 'inner'), join(world.project, 'e'));
  symlinkSync(secret, join(world.project, 'link.txt'));
  writeFileSync(join(world.outside, 'inner', 'list'), `${secret}\0`);
});
afterAll(() => world.end());

describe.each([
  ['in a folder that nobody trusts', []],
  ['with a server that is read-only', ['--read-only']],
] as const)('ATTACK 51: command lines that read, %s', (_, args) => {
  let session: Session;
  beforeAll(async () => {
    session = await world.open({ args: [...args] });
  });

  it.each(linesThatLook)('are refused and show no secret: %s', async (line) => {
    const { refused, text } = await session.does(runLine(line));
    expect(shows(text), text).toBe(false);
    expect(refused, text).toBe(true);
  });
});

it('ATTACK 51: a read-only server runs no line in a trusted folder either', async () => {
  execFileSync(process.execPath, [program, 'trust', '--yes', world.project], { env: world.env });
  const session = await world.open({ args: ['--read-only'] });
  for (const line of ['cat notes.txt', 'ls', 'true', 'git status'])
    expect((await session.does(runLine(line))).text).toMatch(/^EFFECT_DENIED: .*read-only/);
});

it('ATTACK 51: a line in a trusted folder shows no secret outside it or kept by a rule', async () => {
  execFileSync(process.execPath, [program, 'trust', '--yes', world.project], { env: world.env });
  const session = await world.open({ args: ['--rule', 'read(**/.env)=deny'] });
  const outside = linesThatLook.filter((line) => /secret\.txt|e\/|\.env|KEY/.test(line));
  for (const line of outside) {
    const { text } = await session.does(runLine(line));
    expect(text.includes(secretText), `${line}: ${text}`).toBe(false);
  }
});

it('ATTACK 51: no argument is passed over by the gate, whatever it looks like', async () => {
  execFileSync(process.execPath, [program, 'trust', '--yes', world.project], { env: world.env });
  mkdirSync(join(world.project, 'x:'), { recursive: true });
  symlinkSync(world.outside, join(world.project, 'x:', 'away'));
  const session = await world.open({ args: ['--rule', 'read(**/.env)=deny'] });
  for (const line of [
    'cat x://../.env',
    'cat x://away/secret.txt',
    'cat x://../../outside/secret.txt',
    'tail -n1 --x=x://../.env',
    'touch x://../../outside/new',
    'mkdir x://away/new',
    'touch .toolcrib.json',
    'mkdir .husky',
    'mkdir -p .toolcrib.json',
  ]) {
    const { refused, text } = await session.does(runLine(line));
    expect([line, refused, text.includes(secretText)]).toEqual([line, true, false]);
  }
  expect(world.has('.toolcrib.json') || world.has('.husky') || world.has('../outside/new')).toBe(false);
});

it('ATTACK 51: git shows no file that a rule keeps, in a history with its changes either', async () => {
  const session = await world.open({ args: ['--rule', 'read(**/.env)=deny'] });
  for (const act of [log(), { ...log(), arguments: { patch: true } }, show()])
    expect((await session.does(act)).text).not.toContain(secretText);
});

const agreed: readonly (readonly [line: string, ...others: string[]])[] = [
  ['sqlite3 x.db .tables', "sqlite3 x.db '.shell touch ran'", 'sqlite3 x.db'],
  ['tar -cf a.tar src', "tar -cf a.tar --to-command='touch ran' src", 'tar -cf a.tar'],
  ['zip -r a.zip src', 'zip -r a.zip src -T --unzip-command=touch', 'zip -r a.zip'],
  ['curl -s URL', 'curl -s URL -o ran', 'curl -s'],
  ['rm -rf build', 'rm -rf src', 'rm -rf build src'],
  ['git config user.name', "git config core.pager 'touch ran'", 'git config'],
  ['push now', 'push now --force', 'push'],
  ['publish x', 'publish y', 'publish x | sh'],
  ['env FOO=1 printf x', 'env FOO=1 touch ran', 'env FOO=1'],
  ['sh run.sh', 'sh run.sh x', 'sh'],
  ['ssh host uptime', 'ssh host rm -rf x', 'ssh host'],
];

describe('ATTACK 29: a yes with always', () => {
  const ada = person();
  let session: Session;
  beforeAll(async () => {
    for (const [line] of agreed) {
      const [name = ''] = line.split(' ');
      if (!['git', 'sh', 'env', 'rm'].includes(name))
        writeFileSync(join(world.bin, name), '#!/bin/sh\necho "$0 $@"\n', { mode: 0o755 });
    }
    execFileSync(process.execPath, [program, 'trust', '--yes', world.project], { env: world.env });
    session = await world.open({ person: ada });
  });

  it.each(agreed)('covers exactly the line %s and no other', async (line, ...others) => {
    ada.will(says.always, says.no);
    await session.does(runLine(line));
    await session.does(runLine(line));
    expect(ada.asked, 'offered for every line that is shown whole').toHaveLength(1);
    for (const other of [...others, `A=1 ${line}`, `${line} && printf x`, `cd src && ${line}`])
      expect((await session.does(runLine(other))).text, other).toMatch(/^NOT_CONFIRMED/);
    expect(world.has('ran')).toBe(false);
  });

  it('does not cover a link in the place of the folder', async () => {
    mkdirSync(join(world.project, 'a'));
    mkdirSync(join(world.project, 'b'));
    const tool = also(runProgram('tar', 'z'), { cwd: 'a' });
    ada.will(says.always, says.no);
    await session.gets(tool);
    await session.gets(tool);
    renameSync(join(world.project, 'a'), join(world.project, 'a2'));
    symlinkSync('b', join(world.project, 'a'));
    expect((await session.does(tool)).text).toMatch(/^NOT_CONFIRMED/);
  });

  it('does not cover another branch or another address', async () => {
    const [first, second] = ['one.git', 'two.git'].map((name) => join(world.outside, name));
    for (const remote of [first, second]) world.git('init', '--quiet', '--bare', String(remote));
    world.git('remote', 'add', 'origin', String(first));
    execFileSync(process.execPath, [program, 'trust', '--yes', world.project], { env: world.env });
    ada.will(says.always, says.no);
    await session.gets(pushTo('origin', 'HEAD'));
    world.git('commit', '--quiet', '--allow-empty', '--message=more');
    await session.gets(pushTo('origin', 'HEAD'));
    expect(ada.asked).toHaveLength(1);
    world.git('switch', '--quiet', '--create', 'secret');
    expect((await session.does(pushTo('origin', 'HEAD'))).refused).toBe(true);
    world.git('switch', '--quiet', 'main');
    world.git('remote', 'set-url', '--push', 'origin', String(second));
    expect((await session.does(pushTo('origin', 'HEAD'))).refused).toBe(true);
  });
});
