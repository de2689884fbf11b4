import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { isOrdinaryConfig } from '../../src/discoverers/git-config.ts';
import { gitGuard } from '../../src/discoverers/git-guard.ts';
import { temporaryRepository } from '../support/repository.ts';

it('knows what git itself writes', () => {
  const { folder, git } = temporaryRepository();
  git('remote', 'add', 'origin', 'https://example.org/x.git');
  git('config', 'branch.main.remote', 'origin');
  git('config', 'branch.main.merge', 'refs/heads/main');
  git('config', 'pull.rebase', 'true');
  const config = readFileSync(join(folder, '.git', 'config'), 'utf8');
  expect(isOrdinaryConfig(config)).toBe(true);
  expect(isOrdinaryConfig(`# a comment\n; another\n${config.replaceAll('\n', '\r\n')}`)).toBe(true);
});

const hostile = [
  '[core]\n\tfsmonitor = x',
  '[core] sshcommand = x',
  '[core]\n\tbare = false \\\n\tsshcommand = x',
  '[core]\n\tbare = "false\n\tsshcommand = x"',
  '[CORE]\n\tsshCommand = x',
  '[core]\n\tWORKTREE = /etc',
  '[filter "a"]\n\tclean = x',
  '[filter.a]\n\tclean = x',
  '[remote "a"]\n\tuploadpack = x',
  '[remote "a\\"]\n[filter "b"]\n\tclean = x',
  '[remote "a"] [filter "b"]\n\tclean = x',
  '[remote "a"]\turl = y\n[filter "b"] clean = x',
  '[constructor]\n\tx = 1',
  '[include]\n\tpath = other',
  '[includeIf "gitdir:/"]\n\tpath = other',
  '[extensions]\n\tworktreeConfig = true',
  '[submodule "a"]\n\tupdate = !x',
  '[merge "a"]\n\tdriver = x',
  '[credential]\n\thelper = x',
  '[url "ext::x"]\n\tinsteadOf = y',
  '\ufeff[core]\n\tsshcommand = x',
  '[core]\r\tsshcommand = x',
  '[core]\n\tbare = false\r\tsshcommand = x',
  '[remote "a"]\n\turl = x # c \\\n[core]\n\tsshcommand = y',
  '\tsshcommand = x',
  '[user]\n\tname = a\u0000\n[core]\n\tgitproxy = x',
];

it.each(hostile)('does not take %j for ordinary', (text) => {
  expect(isOrdinaryConfig(text)).toBe(false);
});

it('never calls ordinary what git finds something to watch in', () => {
  const { folder, git } = temporaryRepository();
  const file = join(folder, '.git', 'config');
  const start = readFileSync(file, 'utf8');
  // Pieces put together at random, by a linear congruential generator: the same ones every time.
  const pieces = [
    '[core]',
    '[filter "a"]',
    '[remote "a"]',
    ' ',
    '\n',
    '\n\t',
    '\r',
    '"',
    '\\',
    '=',
    '#',
    ';',
    'clean = x',
    'sshcommand = x',
    'url = y',
    '[',
    ']',
    'a',
  ];
  let seed = 7;
  const random = (most: number) => (seed = (seed * 1664525 + 1013904223) >>> 0) % most;
  let accepted = 0;
  for (let round = 0; round < 4000; round++) {
    const text = start + Array.from({ length: 3 + random(10) }, () => pieces[random(pieces.length)]).join('');
    if (!isOrdinaryConfig(text)) continue;
    accepted++;
    writeFileSync(file, text);
    let found = '';
    try {
      found = git(...gitGuard.argv);
    } catch {
      // Nothing found, or a text that git does not accept: it will not run then either.
    }
    const where = {
      effects: ['read'],
      trusted: false,
      projectCode: ['fsmonitor', 'filter'],
      hooks: [],
    } as const;
    expect({ ...gitGuard.read(found, where), reads: [] }, JSON.stringify(text)).toEqual(
      gitGuard.read('', where),
    );
  }
  expect(accepted).toBeGreaterThan(20);
});
