import { execFileSync } from 'node:child_process';
import { existsSync, linkSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { callerFor, failureOf, put, temporaryFolder, textOf, type Caller } from '../tools/files/folder.ts';
import { processorMs } from '../support/processor-ms.ts';

let root: string;
let outside: string;
let call: Caller;
const at = (path: string) => readFileSync(join(root, path), 'utf8');
const said = (name: Parameters<Caller>[0], given: object) =>
  call(name, given).then(textOf, (error: Error & { code?: string }) => `${error.code}: ${error.message}`);

beforeEach(async () => {
  const top = await temporaryFolder();
  root = join(top, 'app');
  outside = join(top, 'outside');
  await put(top, { 'app/a.txt': 'name\n', 'outside/secret.txt': 'name\n' });
  call = callerFor(root);
});

describe('replace_in_files', () => {
  it('ATTACK 52: replace_in_files follows no link and changes nothing outside', async () => {
    symlinkSync(outside, join(root, 'link'));
    symlinkSync(join(outside, 'secret.txt'), join(root, 'file-link'));
    linkSync(join(outside, 'secret.txt'), join(root, 'hard'));
    for (const path of ['.', 'link', 'link/secret.txt', 'file-link', '../outside'])
      await said('replace_in_files', { pattern: 'name', replacement: 'x', path });
    expect(readFileSync(join(outside, 'secret.txt'), 'utf8')).toBe('name\n');
    expect(at('a.txt')).toBe('x\n');
  });

  it('ATTACK 57: replace_in_files is not kept waiting by a FIFO', async () => {
    execFileSync('mkfifo', [join(root, 'pipe')]);
    expect(await said('replace_in_files', { pattern: 'name', replacement: 'x' })).toMatch(/^Changed 1 file/);
    expect(await said('replace_in_files', { pattern: 'x', replacement: 'y', path: 'pipe' })).toMatch(
      /^PATH_NOT_REGULAR/,
    );
  });

  it.each(['(a{1000}){1000}', '(?:\\w{200}){200}', '(?=a)', '(a)\\1', '[', 'a{,'.repeat(2000)])(
    'ATTACK 69: the expression %s is refused soon',
    async (pattern) => {
      const started = process.cpuUsage();
      expect(await said('replace_in_files', { pattern, replacement: 'x' })).toMatch(
        /^(?:ARG_INVALID|NOT_FOUND)/,
      );
      expect(processorMs(started)).toBeLessThan(3000);
    },
  );

  it('ATTACK 68: a replacement that would fill the memory is refused', async () => {
    writeFileSync(join(root, 'many.txt'), 'a\n'.repeat(150_000));
    const given = { pattern: 'a', replacement: 'x'.repeat(100_000), path: 'many.txt' };
    expect(await said('replace_in_files', given)).toMatch(/^TOO_LARGE: .*Nothing was changed/);
    expect(at('many.txt')).toBe('a\n'.repeat(150_000));
  });

  it('ATTACK 18: neither pattern nor replacement is an option', async () => {
    await put(root, { 'b.txt': '--pre=x\n' });
    expect(await said('replace_in_files', { pattern: '--pre=x', replacement: '--pre=./evil' })).toMatch(
      /^Changed 1 file/,
    );
    expect(at('b.txt')).toBe('--pre=./evil\n');
  });
});

describe('edit_file and edit_files', () => {
  it('ATTACK 69: edits of blanks and of signs take time in proportion to the text', async () => {
    await put(root, { 'blank.txt': `${' '.repeat(500_000)}x\n${'\n'.repeat(500_000)}end\n` });
    const started = process.cpuUsage();
    const texts = [`${' '.repeat(400_000)}y`, `${'\n'.repeat(200_000)}z`, `${'// ...\n'.repeat(30_000)}z`];
    for (const old_string of texts) {
      expect(await said('edit_file', { path: 'blank.txt', old_string, new_string: 'q' })).toMatch(
        /^NOT_FOUND/,
      );
      expect(
        await said('edit_file', { path: 'blank.txt', old_string: 'end', new_string: old_string }),
      ).toMatch(/^Edited/);
      await call('undo', { last: 1 });
    }
    await said('write_file', { path: 'new.json', content: `[${'\n'.repeat(900_000)}` });
    expect(processorMs(started)).toBeLessThan(60_000);
  });

  it('ATTACK 112: arguments that are deep, or long, in a text are refused or harmless', async () => {
    const deep = `${'['.repeat(50_000)}${']'.repeat(50_000)}`;
    expect(await said('edit_files', { edits: deep })).toMatch(/^ARG_INVALID/);
    expect(
      await said('edit_files', { edits: `{"a":${'{"a":'.repeat(50_000)}1${'}'.repeat(50_001)}` }),
    ).toMatch(/^ARG_INVALID/);
    expect(
      await said('edit_file', { path: 'a.txt', ['__proto__']: 1, old_string: 'name', new_string: 'x' }),
    ).toMatch(/^(?:ARG_INVALID|Edited)/);
  });

  it('ATTACK 63: none of several files is changed when one of them is protected', async () => {
    mkdirSync(join(root, '.vscode'));
    writeFileSync(join(root, '.vscode/tasks.json'), '{"name":1}');
    const edits = ['a.txt', '.vscode/tasks.json'].map((path) => ({
      path,
      old_string: 'name',
      new_string: 'x',
    }));
    expect(await said('edit_files', { edits })).toMatch(/^PATH_PROTECTED: Nothing was written/);
    expect(at('a.txt')).toBe('name\n');
  });
});

describe('copy_path', () => {
  it('ATTACK 52, 63: copies nothing from outside, onto a file, or to a protected place', async () => {
    symlinkSync(outside, join(root, 'link'));
    await put(root, { 'x/tasks.json': '{}', 'b.txt': 'b' });
    expect(await said('copy_path', { from: 'link/secret.txt', to: 'c.txt' })).toMatch(/^PATH_OUTSIDE_ROOTS/);
    expect(await said('copy_path', { from: 'a.txt', to: '../outside/c.txt' })).toMatch(/^PATH_OUTSIDE_ROOTS/);
    expect(await said('copy_path', { from: 'x', to: '.vscode' })).toMatch(/^PATH_PROTECTED/);
    expect(await said('copy_path', { from: 'a.txt', to: 'b.txt' })).toMatch(/^PATH_EXISTS/);
    expect(existsSync(join(root, '.vscode'))).toBe(false);
    expect(await said('copy_path', { from: 'x', to: 'y' })).toMatch(/^Copied y/);
    expect(at('y/tasks.json')).toBe('{}');
    await call('undo', { last: 1 });
    expect(existsSync(join(root, 'y'))).toBe(false);
    expect(await failureOf(call('copy_path', { from: 'nothing', to: 'z' }))).toMatch(/^PATH_NOT_FOUND/);
  });
});
