import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { pages } from '../../src/cli/help.ts';
import { temporaryFolder } from '../tools/files/folder.ts';
import { startInTerminal } from '../repl/support/pty.ts';
import { program } from '../support/server.ts';

const shells = [
  { name: 'bash', argv: ['bash', '--norc', '--noprofile', '-i'], source: '. ./completion' },
  { name: 'zsh', argv: ['zsh', '-f', '-i'], source: 'autoload -U compinit; compinit -u; . ./completion' },
  { name: 'fish', argv: ['fish', '--no-config', '-i'], source: '. ./completion' },
].filter(({ name }) =>
  ['/bin', '/usr/bin', '/usr/local/bin'].some((folder) => existsSync(join(folder, name))),
);

const toolcrib = (...args: string[]) =>
  execFileSync(process.execPath, [program, ...args], { encoding: 'utf8' });

it.runIf(process.platform !== 'win32').each(shells)(
  'completes words in $name',
  async ({ name, argv, source }) => {
    const cwd = join(await temporaryFolder(), 'it’s a folder');
    mkdirSync(cwd);
    writeFileSync(join(cwd, 'completion'), toolcrib('completion', name));
    writeFileSync(join(cwd, 'notes.txt'), '');
    const shell = startInTerminal(argv, { cwd, cols: 150, env: { HOME: cwd, PS1: '$ ', PROMPT: '$ ' } });
    shell.type(`${source}\r`);
    // Nothing that is typed is run: the folder would be there.
    for (const [typed, completed] of [
      ['toolcrib conf', 'toolcrib config'],
      ['toolcrib config claude-c', 'toolcrib config claude-code'],
      ['toolcrib serve --read', 'toolcrib serve --read-only'],
      ['toolcrib call git_stas', 'toolcrib call git_stash'],
      ['toolcrib call git_log lim', 'toolcrib call git_log limit='],
      ['toolcrib chat --file no', 'toolcrib chat --file notes.txt'],
      ['toolcrib $(mkdir made) conf', 'toolcrib $(mkdir made) conf'],
    ] as const) {
      shell.type(typed);
      await shell.sees(typed);
      shell.type('\t');
      await shell.sees(completed, 15_000);
      shell.press('ctrl-u');
    }
    expect(existsSync(join(cwd, 'made'))).toBe(false);
  },
);

it('completes every command and the options that its help names', () => {
  const commands = toolcrib('complete', '=').split('\n');
  for (const [command, page] of Object.entries(pages)) {
    expect(commands.some((line) => line.startsWith(`${command}\t`))).toBe(true);
    const offered = toolcrib('complete', '=--', command);
    for (const [, option] of page.matchAll(/^  (?:-\w, )?(--[a-z-]+)/gm)) expect(offered).toContain(option);
  }
  expect(toolcrib('complete', '=cat', 'call', '--expose')).toBe('catalogue\n');
  expect(toolcrib('complete', '=pyth', 'doctor')).toContain('python\t');
});
