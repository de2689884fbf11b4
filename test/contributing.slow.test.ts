import { execFile } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { chatPlace, leave } from './repl/support/chat.ts';
import { say } from './repl/support/fake-model.ts';
import { startInTerminal } from './repl/support/pty.ts';
import { temporaryFolder } from './support/repository.ts';
import { connect, inherited } from './support/server.ts';
import { textOf } from './support/text-of.ts';

// The model of a chat answers from this process, which therefore must not wait.
const execute = promisify(execFile);

interface Recipe {
  readonly file: string;
  readonly language: string;
  readonly code: string;
}

/** The blocks of a page that belong to a file, which is the one named last in the text before them. */
function recipesIn(page: string): Recipe[] {
  const recipes: Recipe[] = [];
  let file = '';
  for (const [, language = '', code = '', text = ''] of page.matchAll(/^```(\w+)\n([^]*?)^```$|^(.+)$/gm)) {
    file = [...text.matchAll(/`((?:src|docs)\/[\w./-]+\.\w+|README\.md)`/g)].at(-1)?.[1] ?? file;
    if (language !== '') recipes.push({ file, language, code });
  }
  return recipes;
}

/** The text with the `+` lines of a diff in it, and without its `-` lines; the others have to be there once. */
function patched(text: string, diff: string): string {
  let result = text;
  for (const hunk of diff.split('@@\n')) {
    const linesOf = (signs: string) => hunk.match(new RegExp(`^[${signs}].*\n`, 'gm')) ?? [];
    const [before = '', after = ''] = [' -', ' +'].map((signs) =>
      linesOf(signs)
        .map((line) => line.slice(1))
        .join(''),
    );
    expect(linesOf(' +-').join('')).toBe(hunk);
    expect(`\n${result}`.split(`\n${before}`), before).toHaveLength(2);
    result = `\n${result}`.replace(`\n${before}`, () => `\n${after}`).slice(1);
  }
  return result;
}

/** Does what a recipe says in a copy of the repository. */
function follow(copy: string, { file, language, code }: Recipe): void {
  const path = join(copy, file);
  if (language === 'ts') expect(existsSync(path), file).toBe(false);
  const text = language === 'ts' ? code : patched(readFileSync(path, 'utf8'), code);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}

/** A copy of what is versioned here, with the same packages. */
async function copyRepository(): Promise<string> {
  const copy = realpathSync(mkdtempSync(join(tmpdir(), 'toolcrib-recipes-')));
  const { stdout } = await execute('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard']);
  for (const file of stdout.split('\0').filter((name) => name !== '' && existsSync(name)))
    cpSync(file, join(copy, file));
  symlinkSync(resolve('node_modules'), join(copy, 'node_modules'));
  return copy;
}

/** A program that answers like Hugo, and writes down how it was called. */
const hugo = `#!/bin/sh
case "$1" in
  version) echo 'hugo v0.140.2+extended linux/amd64' ;;
  build) echo "$*" > called; echo 'ERROR no such shortcode "content/post.md:7:3"'; exit 1 ;;
  list) echo "$*: content/draft.md" ;;
esac
`;

describe.skipIf(process.platform === 'win32')('the recipes of CONTRIBUTING.md', () => {
  const recipes = recipesIn(readFileSync('CONTRIBUTING.md', 'utf8'));
  let copy = '';
  let bin = '';
  let program = '';
  let tried = '';
  let env: Record<string, string> = {};
  let checked: Promise<string> = Promise.resolve('');

  /** Runs a program in the copy; returns all that it says, also when it fails. */
  const run = (...[command, ...args]: readonly [string, ...string[]]): Promise<string> =>
    execute(command, args, { cwd: copy, env }).then(
      ({ stdout, stderr }) => stdout + stderr,
      ({ message, stdout = '' }: Error & { stdout?: string }) => `FAILED ${message}${stdout}`,
    );
  const toolcrib = (...args: string[]) => run(process.execPath, program, ...args);

  beforeAll(async () => {
    copy = await copyRepository();
    program = join(copy, 'dist', 'toolcrib.cjs');
    // Not in the copy: a program of the project is never taken for the machine's.
    bin = realpathSync(mkdtempSync(join(tmpdir(), 'toolcrib-bin-')));
    writeFileSync(join(bin, 'hugo'), hugo, { mode: 0o755 });
    const { FORCE_COLOR: _forced, ...others } = inherited();
    env = { ...others, NO_COLOR: '1', PATH: `${bin}${delimiter}${process.env['PATH'] ?? ''}` };
    for (const recipe of recipes) follow(copy, recipe);
    tried = await run('npm', 'run', 'try-program', 'hugo');
    // It takes longest, and needs the indexes that the build has written.
    checked = run('npm', 'run', 'check');
  });

  afterAll(async () => {
    await checked;
    for (const folder of [copy, bin].filter((one) => one !== ''))
      rmSync(folder, { recursive: true, force: true, maxRetries: 20 });
  });

  it('names a file for each block', () => {
    expect(recipes.length).toBeGreaterThan(10);
    expect(recipes.map(({ file }) => file)).not.toContain('');
    expect([...new Set(recipes.map(({ language }) => language))].toSorted()).toEqual(['diff', 'ts']);
  });

  it('adds a program, which try-program finds, and whose actions obey the laws', () => {
    expect(tried).not.toContain('FAILED');
    expect(tried).toContain(join(bin, 'hugo'));
    expect(tried).toMatch(/Tests +\d+ passed/);
    expect(tried).toContain('Next: npm run try-program hugo ACTION key=value');
  });

  it('adds actions, which a client calls', async () => {
    const site = temporaryFolder();
    writeFileSync(join(site, 'hugo.toml'), '');
    const rules = ['build', 'drafts'].flatMap((action) => ['--rule', `hugo_${action}=allow`]);
    const args = ['serve', '--root', site, ...rules];
    expect(await toolcrib('trust', site, '--yes')).not.toContain('FAILED');
    const client = await connect('2026-07-28', { instead: program, args, env });
    const built = await client.callTool({ name: 'hugo_build', arguments: { drafts: true, folder: 'out' } });
    expect(textOf(built)).toContain('content/post.md:7 error: no such shortcode');
    expect(readFileSync(join(site, 'called'), 'utf8')).toMatch(
      /^build --noColor --buildDrafts --destination=/,
    );
    const drafts = await client.callTool({ name: 'hugo_drafts', arguments: {} });
    expect(textOf(drafts)).toContain('list drafts: content/draft.md');
    await client.close();
  });

  it('adds a tool, which a client finds and calls', async () => {
    const folder = temporaryFolder();
    writeFileSync(join(folder, 'a.txt'), '12345');
    const args = ['serve', '--root', folder];
    const client = await connect('2026-07-28', { instead: program, args, env });
    const found = await client.callTool({ name: 'find_actions', arguments: { query: 'size of a file' } });
    expect(textOf(found)).toContain('file_size');
    const size = await client.callTool({ name: 'file_size', arguments: { path: 'a.txt' } });
    expect(textOf(size)).toBe('5 bytes');
    const outside = await client.callTool({ name: 'file_size', arguments: { path: '/etc/hostname' } });
    expect(textOf(outside)).toContain('PATH_OUTSIDE_ROOTS');
    await client.close();
  });

  it('adds a host, whose entry is printed, and which the pages have', async () => {
    const entry = await toolcrib('config', 'kiro', '--root', temporaryFolder());
    expect(entry).toContain('.kiro/settings/mcp.json');
    expect(entry).toContain('"serve"');
    const compared = await run('npx', 'vitest', 'run', 'test/cli/config-host.test.ts', '-t', 'in the pages');
    expect(compared).toMatch(/Tests +1 passed/);
  });

  it('adds a command of the command line, with its help', async () => {
    expect(await toolcrib('settings-file')).toMatch(/config\.json\n$/);
    expect(await toolcrib('help', 'settings-file')).toMatch(/^toolcrib settings-file - /);
    expect(await toolcrib('help')).toContain('  toolcrib settings-file  ');
    expect(await toolcrib('settings-file', '--x')).toMatch(/FAILED[^]*Unknown option '--x'/);
  });

  it('adds a command and a feature of the chat', async () => {
    const place = await chatPlace({ config: 'bell: true\n' });
    const cleared = Object.fromEntries(Object.keys(process.env).map((name) => [name, undefined]));
    const chat = startInTerminal([process.execPath, program, 'chat'], {
      cwd: place.cwd,
      cols: 200,
      env: { ...cleared, ...place.env },
    });
    await chat.sees('mode ask');
    chat.type('/help\r');
    await chat.sees(/\/folder +the folder of the chat/);
    chat.type('/folder\r');
    await chat.sees(place.cwd);
    expect(chat.raw()).not.toContain('\x07');
    place.model.script(say('Good day.'));
    chat.type('hello\r');
    await chat.sees('Good day.');
    await chat.until(() => chat.raw().includes('\x07'));
    await leave(chat);
  });

  it('leaves types, lint and format as they have to be', async () => {
    expect(await checked).not.toContain('FAILED');
  });
});
