import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { unusualSetting } from '../../src/discoverers/git/config.ts';
import { temporaryRepository } from '../support/repository.ts';

it('knows what git itself writes', () => {
  const { folder, git } = temporaryRepository();
  git('remote', 'add', 'origin', 'https://example.org/x.git');
  git('config', 'branch.main.remote', 'origin');
  git('config', 'branch.main.merge', 'refs/heads/main');
  git('config', 'pull.rebase', 'true');
  const config = readFileSync(join(folder, '.git', 'config'), 'utf8');
  expect(unusualSetting(config)).toBeUndefined();
  expect(unusualSetting(`# a comment\n; another\n${config.replaceAll('\n', '\r\n')}`)).toBeUndefined();
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
  expect(unusualSetting(text)).toBeDefined();
});

it('names the setting, or the line that is none', () => {
  expect(unusualSetting('[core]\n\tbare = false\n\tfsMonitor = "x"\n')).toBe('core.fsmonitor');
  expect(unusualSetting('[filter "evil"]\n\tclean = x\n')).toBe('filter.clean');
  expect(unusualSetting('[core]\n[include "x\n')).toBe('line 2 of .git/config');
});

it('never calls ordinary what git finds something to watch in', () => {
  const { folder, git } = temporaryRepository();
  const file = join(folder, '.git', 'config');
  const start = readFileSync(file, 'utf8');
  // Pieces put together at random, by a linear congruential generator: the same ones every time.
  const pieces =
    '[core]|[filter "a"]|[remote "a"]| |\n|\n\t|\r|"|\\|=|#|;|clean = x|sshcommand = x|url = y|[|]|a'.split(
      '|',
    );
  let seed = 7;
  const random = (most: number) => {
    seed = (seed * 1664525 + 1013904223) >>> 0;
    return seed % most;
  };
  let accepted = 0;
  for (let round = 0; round < 4000; round++) {
    const text = start + Array.from({ length: 3 + random(10) }, () => pieces[random(pieces.length)]).join('');
    if (unusualSetting(text) !== undefined) continue;
    accepted++;
    writeFileSync(file, text);
    let found = '';
    try {
      found = git('config', '--local', '--name-only', '--list');
    } catch {
      // A text that git does not accept: it will not run then either.
    }
    expect(found, JSON.stringify(text)).not.toMatch(/\.(?:clean|sshcommand)$/m);
  }
  expect(accepted).toBeGreaterThan(20);
});
