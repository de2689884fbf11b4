import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { callerFor, failureOf, put, temporaryFolder, textOf, type Caller } from './folder.ts';

let root: string;
let call: Caller;
const patchOf = (...lines: string[]) => ['*** Begin Patch', ...lines, '*** End Patch'].join('\n');
const apply = async (...lines: string[]) => textOf(await call('apply_patch', { input: patchOf(...lines) }));
const failure = (...lines: string[]) => failureOf(call('apply_patch', { input: patchOf(...lines) }));
const at = (path: string) => readFile(join(root, path), 'utf8');

beforeEach(async () => {
  root = await temporaryFolder();
  call = callerFor(root);
  await put(root, {
    'src/a.ts': 'class A {\n  run() {\n    go();\n  }\n}\nclass B {\n  run() {\n    go();\n  }\n}\n',
    'src/crlf.txt': 'one\r\ntwo\r\nthree\r\n',
    'old.txt': 'old\n',
  });
});

describe('apply_patch', () => {
  it('adds, updates, moves and deletes, and one undo takes all back', async () => {
    const text = await apply(
      '*** Add File: new/b.ts',
      '+export const b = 1;',
      '+',
      '*** Update File: src/a.ts',
      '*** Move to: src/c.ts',
      '@@ class B {',
      '   run() {',
      '-    go();',
      '+    stop();',
      '+    end();',
      '   }',
      '*** Delete File: old.txt',
      '*** Update File: src/crlf.txt',
      '@@',
      ' one',
      '-two',
      '+zwei',
      '*** End of File',
    );
    expect(text).toMatch(
      /^Patched 5 files.*: \+5 -2 \(change [\w-]+\)\nnew\/b\.ts: new, \+2 -0\nsrc\/a\.ts: \+2 -1\n/,
    );
    expect(text).toContain('src/a.ts -> src/c.ts\nold.txt: removed\nsrc/crlf.txt: 1');
    expect(await at('new/b.ts')).toBe('export const b = 1;\n\n');
    expect(await at('src/c.ts')).toContain(
      'class A {\n  run() {\n    go();\n  }\n}\nclass B {\n  run() {\n    stop();\n    end();\n',
    );
    expect(await at('src/crlf.txt')).toBe('one\r\nzwei\r\nthree\r\n');
    expect(existsSync(join(root, 'old.txt')) || existsSync(join(root, 'src/a.ts'))).toBe(false);
    await call('undo', { last: 1 });
    expect(await at('old.txt')).toBe('old\n');
    expect(await at('src/a.ts')).toContain('class B {\n  run() {\n    go();');
    expect(existsSync(join(root, 'new'))).toBe(false);
  });

  it('replaces whole lines below what @@ names, and refuses what is in several places', async () => {
    expect(await failure('*** Update File: src/a.ts', '@@', '-    go();', '+    x();')).toMatch(
      /^AMBIGUOUS_EDIT: .*\(lines 3, 8\)/,
    );
    expect(await failure('*** Update File: src/a.ts', '@@', '-go();', '+x();')).toMatch(
      /^AMBIGUOUS|^NOT_FOUND/,
    );
    await apply('*** Update File: src/a.ts', '@@ class A {', '@@ run() {', '-    go();');
    expect(await at('src/a.ts')).toMatch(/^class A \{\n {2}run\(\) \{\n {2}\}\n/);
    await apply('*** Update File: src/a.ts', '@@ class B {', '+  x = 1;');
    expect(await at('src/a.ts')).toContain('class B {\n  x = 1;\n  run() {');
  });

  it('changes all files or none', async () => {
    const before = await at('src/a.ts');
    const failed = await failure(
      '*** Update File: old.txt',
      '-old',
      '+new',
      '*** Delete File: src/a.ts',
      '*** Update File: src/crlf.txt',
      '-four',
      '+vier',
    );
    expect(failed).toMatch(/^NOT_FOUND: Nothing was written\.\nsrc\/crlf\.txt: old_string is not there/);
    expect([await at('old.txt'), await at('src/a.ts')]).toEqual(['old\n', before]);
    expect(textOf(await call('undo', {}))).toBe('Nothing to take back.');
  });

  it.each([
    ['no patch', 'hello', /has no line "\*\*\* Begin Patch"/],
    ['no end', '*** Begin Patch\n*** Delete File: old.txt', /ends without "\*\*\* End Patch"/],
    ['nothing in it', patchOf(), /changes nothing/],
    [
      'a line of no kind',
      patchOf('*** Update File: old.txt', '@@', 'old'),
      /line 4: expected a blank, \+ or -/,
    ],
    ['a header of no kind', patchOf('*** Rename File: old.txt'), /line 2: expected \*\*\* Add File/],
    ['a change without a place', patchOf('*** Update File: old.txt', '+x'), /none beside them tells where/],
  ])('refuses an input with %s', async (_, input, refusal) => {
    const said = await failureOf(call('apply_patch', { input }));
    expect(said).toMatch(/^ARG_INVALID: input: /);
    expect(said).toMatch(refusal);
  });

  it.each(['../out.txt', '/etc/passwd', '.git/hooks/pre-commit', '.vscode/tasks.json', '.envrc'])(
    'opens %s by the same gate as every tool',
    async (path) => {
      await put(root, { '.git/HEAD': 'ref: refs/heads/main\n' });
      const refused = /^PATH_(?:OUTSIDE_ROOTS|PROTECTED)/;
      expect(await failure(`*** Add File: ${path}`, '+x')).toMatch(refused);
      expect(await failure(`*** Delete File: ${path}`)).toMatch(refused);
      expect(await failure('*** Update File: old.txt', `*** Move to: ${path}`)).toMatch(refused);
      expect(await at('old.txt')).toBe('old\n');
    },
  );
});
