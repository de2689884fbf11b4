import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { grep as define } from '../../src/filesystem/grep.ts';
import { findRipgrep } from '../../src/machine/find-ripgrep.ts';
import { openWorkspace } from '../../src/machine/workspace.ts';
import { callerFor, failureOf, put, services, temporaryFolder, textOf, type Caller } from './folder.ts';

let root: string;
let call: Caller;
const grep = async (given: object) => textOf(await call('grep', given));

beforeAll(async () => {
  root = await temporaryFolder();
  call = callerFor(root);
  await put(root, {
    '.gitignore': 'built/\nignored.ts\n',
    '.git/HEAD': 'needle',
    '.env': 'needle=hidden\n',
    'built/out.ts': 'needle in output\n',
    'ignored.ts': 'needle ignored\n',
    'src/a.ts': 'one\nneedle a\nthree\nfour\nfive\nneedle b\n',
    'src/deep/b.py': 'Needle in Python\n',
    'packages/x/src/c.ts': 'a needle c\n',
    'windows.txt': 'first;\r\nlast needle;\r\n',
    'long.txt': `needle ${'x'.repeat(5000)}\n`,
    'latin1.txt': Buffer.from('caf\u00e9 crowd\n', 'latin1'),
    'utf8.txt': 'caf\u00e9 crowd\n',
    'utf16.txt': Buffer.from('\ufeffcaf\u00e9 crowd\n', 'utf16le'),
    'binary.bin': Buffer.from('needle\0\0\0'),
    'late-binary': Buffer.concat([
      Buffer.from('needle early\n'),
      Buffer.from('x\n'.repeat(60_000)),
      Buffer.alloc(10),
    ]),
    'odd/new\nline.txt': 'needle odd\n',
    'bell.txt': 'bell \u001b[31mneedle\u202e\n',
    'many.log': 'match me\n'.repeat(5000),
  });
});

describe('grep', () => {
  it('shows matching lines by file, with their numbers', async () => {
    expect(await grep({ pattern: 'needle [a-z]$', glob: '*.ts' })).toBe(
      'packages/x/src/c.ts\n1:a needle c\n\nsrc/a.ts\n2:needle a\n6:needle b',
    );
  });

  it('shows lines around a match, and where some are left out', async () => {
    expect(await grep({ pattern: 'needle', path: 'src/a.ts', context: 1 })).toBe(
      'src/a.ts\n1-one\n2:needle a\n3-three\n--\n5-five\n6:needle b',
    );
    expect(await grep({ pattern: 'needle b', path: 'src/a.ts', before: 1 })).toBe(
      'src/a.ts\n5-five\n6:needle b',
    );
  });

  it('names files, or counts lines', async () => {
    expect(await grep({ pattern: 'needle', path: 'src', mode: 'files', ignore_case: true })).toBe(
      'src/a.ts\nsrc/deep/b.py',
    );
    expect(await grep({ pattern: 'needle', path: 'src', mode: 'count', ignore_case: true })).toBe(
      'src/a.ts:2\nsrc/deep/b.py:1\n[3 matching lines in 2 files]',
    );
    expect(await grep({ pattern: 'needle', mode: 'files', limit: 1 })).toMatch(
      /^bell.txt\n\[1 of \d files\]$/,
    );
  });

  it('chooses files by glob and type, without bringing back what git ignores or a dot hides', async () => {
    const files = (given: object) => grep({ pattern: 'needle', mode: 'files', ignore_case: true, ...given });
    expect(await files({ glob: '**/*.ts' })).toBe('packages/x/src/c.ts\nsrc/a.ts');
    expect(await files({ glob: 'src/**/*.{ts,py}' })).toBe('src/a.ts\nsrc/deep/b.py');
    expect(await files({ glob: 'packages/*/src/*.ts' })).toBe('packages/x/src/c.ts');
    expect(await files({ type: 'py' })).toBe('src/deep/b.py');
    expect(await files({ type: 'ts', glob: 'src/**' })).toBe('src/a.ts');
    expect(await files({ type: 'ts', glob: '!src/**' })).toBe('packages/x/src/c.ts');
    expect(await files({ glob: '*.ts', ignored: true })).toContain('ignored.ts');
    expect(await files({ glob: '.env' })).toBe('.env');
    expect(await files({ hidden: true })).not.toContain('.git/HEAD');
    expect(await files({ glob: 'nowhere/*.ts' })).toBe('No matches: there is no folder nowhere.');
  });

  it('takes text literally, or across lines, when asked', async () => {
    expect(await grep({ pattern: 'last needle;$', mode: 'files' })).toBe('windows.txt');
    expect(await grep({ pattern: 'n..dle [a', fixed: true })).toBe('No matches.');
    expect(await grep({ pattern: 'one\\nneedle a', multiline: true })).toBe('src/a.ts\n1:one\n2:needle a');
    expect(await failureOf(call('grep', { pattern: 'one\\nneedle' }))).toMatch(
      /^ARG_INVALID: .*Set multiline/s,
    );
  });

  it('finds nothing without failing', async () => {
    expect(await grep({ pattern: 'nowhere to be found' })).toBe('No matches.');
  });

  it("says what is wrong with a pattern or type, in ripgrep's words", async () => {
    expect(await failureOf(call('grep', { pattern: 'a(b' }))).toMatch(
      /^ARG_INVALID: regex parse error:.*unclosed group/s,
    );
    expect(await failureOf(call('grep', { pattern: '(?=x)' }))).toMatch(/^ARG_INVALID/);
    expect(await failureOf(call('grep', { pattern: 'x', type: 'klingon' }))).toMatch(
      /^ARG_INVALID: unrecognized file type: klingon/,
    );
  });

  it('cuts long lines', async () => {
    expect(await grep({ pattern: 'needle', path: 'long.txt' })).toMatch(
      /^long.txt\n1:needle x{400,500} \[.*\]$/,
    );
  });

  it('reads every file in its own encoding', async () => {
    expect(await grep({ pattern: 'caf. crowd' })).toBe(
      'utf16.txt\n1:caf\u00e9 crowd\n\nutf8.txt\n1:caf\u00e9 crowd',
    );
    expect(await grep({ pattern: 'crowd' })).toBe(
      'latin1.txt\n1:caf\u00e9 crowd\n\nutf16.txt\n1:caf\u00e9 crowd\n\nutf8.txt\n1:caf\u00e9 crowd',
    );
  });

  it('passes over binary files, also those that turn out to be late', async () => {
    expect(await grep({ pattern: 'needle (early|odd)' })).toBe(
      'late-binary\n1:needle early\n\n"odd/new\\nline.txt"\n1:needle odd',
    );
    expect(await grep({ pattern: 'needle', path: 'binary.bin' })).toBe('No matches.');
  });

  it('leaves out what hides or commands, and says so', async () => {
    expect(await grep({ pattern: 'bell' })).toBe(
      'bell.txt\n1:bell needle\n[control and invisible characters are left out here]',
    );
  });

  it('stops at the limit and says so', async () => {
    const text = await grep({ pattern: 'match', limit: 5 });
    expect(text).toMatch(
      /^many.log\n(?:\d:match me\n){5}\[the first 5 matching lines, there are more: narrow it/,
    );
    const most = await grep({ pattern: 'match', limit: 1000 });
    expect(most.length).toBeLessThan(16_000);
    expect(most).toMatch(/\[the first \d{3,} matching lines, there are more/);
  });

  it('ends when the caller gives up', async () => {
    expect(await failureOf(call('grep', { pattern: 'x' }, AbortSignal.abort()))).toMatch(/^CANCELLED/);
  });
});

describe('ripgrep', () => {
  it('is found in the package, else on the machine, else its installation is told', async () => {
    expect(await findRipgrep('/nowhere/rg')).toMatch(/rg(?:\.exe)?$/);
    expect(await findRipgrep('/nowhere/rg')).not.toBe('/nowhere/rg');
  });

  /** grep with another program in its place. */
  async function grepBy(program: string) {
    const tool = define({ ...services, ripgrep: () => Promise.resolve(program) });
    const context = {
      workspace: await openWorkspace([root]),
      signal: new AbortController().signal,
      progress: () => {},
    };
    return tool.call(tool.params.parse({ pattern: 'x' }), context);
  }

  it('that does not start is a failure with a name', async () => {
    expect(await failureOf(grepBy('/nowhere/rg'))).toMatch(/^PROGRAM_FAILED: ripgrep could not be started/);
  });

  it.skipIf(process.platform === 'win32')(
    'may complain: what it found is kept, and its complaints are told',
    async () => {
      const complains = join(root, 'complains');
      await writeFile(
        complains,
        `#!/bin/sh\nprintf './a.txt\\0001:found\\n'\necho 'rg: ./locked: Permission denied (os error 13)' >&2\nexit 2\n`,
        { mode: 0o755 },
      );
      expect(textOf(await grepBy(complains))).toBe(
        'a.txt\n1:found\n[not searched: locked: Permission denied (os error 13)]',
      );
    },
  );
});
