import type { Environment } from '../../../src/machine/environment.ts';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { bindTool } from '../../../src/tools/define-tool.ts';
import grepTool from '../../../src/tools/files/grep.ts';
import { findRipgrep } from '../../../src/machine/programs/find-ripgrep.ts';
import { callerFor, failureOf, put, session, temporaryFolder, textOf, type Caller } from './folder.ts';
import { callContext, planAndRun } from '../../support/call-context.ts';

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
    'minified.js': `${'é€'.repeat(4000)}needle${'é€'.repeat(4000)}end\n${'y'.repeat(900)}\n`,
    'old-mac.txt': 'one\rpath.ts\r1:needle',
    'shift-jis.txt': Buffer.from([0x83, 0x65, 0x83, 0x58, 0x83, 0x67, 0x0a]),
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

  it('shows lines around a match, and marks where some are left out', async () => {
    expect(await grep({ pattern: 'needle', path: 'src/a.ts', context: 1 })).toBe(
      'src/a.ts\n1-one\n2:needle a\n3-three\n--\n5-five\n6:needle b',
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
      /^bell.txt\n\[1 of 9 files; narrow it by path or glob\]$/,
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
    expect(await failureOf(files({ glob: 'nowhere/*.ts' }))).toMatch(/^PATH_NOT_FOUND: nowhere/);
  });

  it('takes text literally, or across lines, when asked', async () => {
    expect(await grep({ pattern: 'last needle;$', mode: 'files' })).toBe('windows.txt');
    expect(await grep({ pattern: 'n..dle [a', fixed: true })).toBe('No matches.');
    expect(await grep({ pattern: 'one\\nneedle a' })).toBe('src/a.ts\n1:one\n2:needle a');
  });

  it('finds nothing without failing, and reports what another way would find', async () => {
    expect(await grep({ pattern: 'nowhere to be found' })).toBe('No matches.');
    expect(await grep({ pattern: 'needle in python', path: 'src' })).toBe(
      'No matches.\n[with ignore_case: 1 in 1 file]',
    );
    expect(await grep({ pattern: 'needle in output' })).toBe(
      'No matches.\n[with ignored and hidden, in files left out here: 1 in 1 file]',
    );
  });

  it('takes what is not an expression for plain text', async () => {
    await put(root, { 'code/call.ts': 'x = items[0].run(a, b)\n' });
    expect(await grep({ pattern: 'items[0].run(a' })).toBe(
      'code/call.ts\n1:x = items[0].run(a, b)\n[it is no regular expression, and was taken as plain text]',
    );
    expect(await grep({ pattern: 'items[0].run(a, b)' })).toMatch(
      /^code\/call.ts\n.*\n\[nothing fits the regular expression; this fits it as plain text\]$/,
    );
  });

  it('takes the parameter names of other tools', async () => {
    const given = { pattern: 'NEEDLE b', '-i': true, '-A': 0, '-B': '1', include: '*.ts', head_limit: 5 };
    expect(await grep({ ...given, output_mode: 'content', '-n': true })).toBe('src/a.ts\n5-five\n6:needle b');
    expect(await grep({ ...given, output_mode: 'files_with_matches' })).toBe('src/a.ts');
    const plain = { pattern: 'needle.b', is_regexp: false, glob: '*.ts' };
    expect(await grep(plain)).toMatch(/^No matches/);
  });

  it("explains a wrong parameter in ripgrep's words, with the way out", async () => {
    const failure = (given: object) => failureOf(call('grep', { pattern: 'x', ...given }));
    expect(await failure({ pattern: 'a(b' })).toMatch(
      /^ARG_INVALID: pattern: regex parse error:.*unclosed group\. Set literal/s,
    );
    expect(await failure({ pattern: '(?=x)' })).toMatch(
      /^ARG_INVALID: pattern: .*not supported\. Use a broader/s,
    );
    expect(await failure({ pattern: '(a)\\1' })).toMatch(
      /^ARG_INVALID: pattern: .*not supported\. Use a broader/s,
    );
    expect(await failure({ pattern: 'a{1000}{1000}' })).toMatch(
      /^ARG_INVALID: pattern: .*size limit.*Repeat less/,
    );
    expect(await failure({ type: 'klingon' })).toMatch(
      /^ARG_INVALID: type: unrecognized file type: klingon\. Use glob/,
    );
    expect(await failure({ glob: '!{a' })).toMatch(/^ARG_INVALID: glob: .*unclosed alternate group/);
    expect(await failure({ encoding: 'klingon' })).toMatch(/^ARG_INVALID: encoding: .*klingon/);
    expect(await failure({ pattern: 'a\0b' })).toMatch(/^ARG_INVALID: pattern: has a NUL/);
  });

  it('shows the part of a long line around its first match', async () => {
    expect(await grep({ pattern: 'needle', path: 'long.txt' })).toMatch(/^long.txt\n1:needle x{493}…$/);
    const [far, context] = (await grep({ pattern: 'needle', path: 'minified.js', context: 1 }))
      .split('\n')
      .slice(1);
    expect(far).toMatch(/^1:…[é€]{60,70}needle[é€]{120,140}…$/);
    expect(context).toMatch(/^2-y{500}…$/);
    expect(await grep({ pattern: 'end$', path: 'minified.js' })).toMatch(
      /^minified.js\n1:…[é€]{160,260}end$/,
    );
    // In a folder of its own: ripgrep keeps its buffer, and then sees at once that the next file is binary.
    const folder = await temporaryFolder();
    await put(folder, { 'huge.js': `${'z'.repeat(5_000_000)}needle\n` });
    expect(textOf(await callerFor(folder)('grep', { pattern: 'needle' }))).toMatch(/^huge.js\n1:z{500}…$/);
  });

  it('reads every file in its own encoding', async () => {
    expect(await grep({ pattern: 'caf. crowd' })).toBe(
      'utf16.txt\n1:caf\u00e9 crowd\n\nutf8.txt\n1:caf\u00e9 crowd',
    );
    expect(await grep({ pattern: 'crowd' })).toBe(
      'latin1.txt\n1:caf\u00e9 crowd\n\nutf16.txt\n1:caf\u00e9 crowd\n\nutf8.txt\n1:caf\u00e9 crowd',
    );
  });

  it('passes over binary files, also those that turn out to be binary late', async () => {
    expect(await grep({ pattern: 'needle (early|odd)' })).toBe(
      'late-binary\n1:needle early\n\n"odd/new\\nline.txt"\n1:needle odd',
    );
    expect(await grep({ pattern: 'needle', path: 'binary.bin' })).toBe(
      'No matches.\n[the file is binary: what matches is not shown]',
    );
    expect(await grep({ pattern: 'nothing', path: 'binary.bin' })).toBe('No matches.');
  });

  it('leaves out what hides or commands, and reports so', async () => {
    expect(await grep({ pattern: 'bell' })).toBe(
      'bell.txt\n1:bell needle\n[control and invisible characters are left out here]',
    );
  });

  it('keeps a carriage return from making a line of its own', async () => {
    expect(await grep({ pattern: 'one', path: 'old-mac.txt' })).toBe(
      'old-mac.txt\n1:one\u240dpath.ts\u240d1:needle',
    );
  });

  it('searches in an encoding that is named', async () => {
    expect(await grep({ pattern: 'テスト' })).toBe('No matches.');
    expect(await grep({ pattern: 'テスト', encoding: 'Shift-JIS' })).toBe('shift-jis.txt\n1:テスト');
  });

  it('stops at the limit and reports so', async () => {
    expect(await grep({ pattern: 'match', limit: 5 })).toMatch(
      /^many.log\n(?:\d:match me\n){5}\[5 matching lines, 4,995 more; narrow it by path or glob\]$/,
    );
    expect(await grep({ pattern: 'needle', path: 'src', limit: 1 })).toMatch(
      /\n\[1 matching line, 1 more; narrow /,
    );
    const most = await grep({ pattern: 'match', limit: 1000 });
    expect(most.length).toBeLessThan(16_000);
    expect(most).toMatch(/\[[\d,]{3,} matching lines, [\d,]{5} more; narrow /);
  });

  it('ends when the caller gives up', async () => {
    expect(await failureOf(call('grep', { pattern: 'x' }, AbortSignal.abort()))).toMatch(/^CANCELLED/);
  });
});

describe('ripgrep', () => {
  it('is found in the package, else on the machine, else its installation is named', async () => {
    expect(await findRipgrep('/nowhere/rg')).toMatch(/rg(?:\.exe)?$/);
    expect(await findRipgrep('/nowhere/rg')).not.toBe('/nowhere/rg');
  });

  /** grep with another program in its place, or less time for it. */
  async function grepBy(program: string, timeoutMs?: number) {
    const { environment } = session;
    const limited: Environment = {
      ...environment,
      run: (command) => environment.run({ ...command, ...(timeoutMs === undefined ? {} : { timeoutMs }) }),
    };
    const tool = bindTool(grepTool, {
      ...session,
      environment: limited,
      ripgrep: () => Promise.resolve(program),
    });
    const context = await callContext([root]);
    return planAndRun(tool, { pattern: 'x' }, context);
  }

  it('fails with an error code when it does not start', async () => {
    expect(await failureOf(grepBy('/nowhere/rg'))).toMatch(/^PROGRAM_FAILED: ripgrep could not be started/);
  });

  it.skipIf(process.platform === 'win32')('has its complaints reported beside what it found', async () => {
    const complains = join(root, 'complains');
    await writeFile(
      complains,
      `#!/bin/sh\nprintf './a.txt\\0001:1:found\\n'\necho 'rg: ./locked: Permission denied (os error 13)' >&2\nexit 2\n`,
      { mode: 0o755 },
    );
    expect(textOf(await grepBy(complains))).toBe(
      'a.txt\n1:found\n[not searched: locked: Permission denied (os error 13)]',
    );
  });

  it.skipIf(process.platform === 'win32')(
    'is stopped when it takes too long, and what it found is kept',
    async () => {
      const slow = join(root, 'slow');
      await writeFile(slow, `#!/bin/sh\nprintf './a.txt\\0001:1:found\\n'\nexec sleep 60\n`, { mode: 0o755 });
      expect(textOf(await grepBy(slow, 3000))).toBe(
        'a.txt\n1:found\n[stopped after 20 s, not all was searched: search a smaller folder]',
      );
    },
  );

  it.skipIf(process.platform === 'win32')(
    'has its search called incomplete when the system ends it',
    async () => {
      const killed = join(root, 'killed');
      await writeFile(killed, '#!/bin/sh\nkill -9 $$\n', { mode: 0o755 });
      expect(await failureOf(grepBy(killed))).toMatch(
        /^PROGRAM_FAILED: ripgrep was ended by a signal and said nothing\..* search fewer/,
      );
    },
  );
});
