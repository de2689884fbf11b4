import { describe, expect, it } from 'vitest';
import { applyEdits } from '../../../src/tools/files/editing/apply-edits.ts';
import type { Edit } from '../../../src/tools/files/editing/edited-text.ts';
import { unifiedDiff } from '../../../src/tools/files/text/unified-diff.ts';
import { failureOf } from './folder.ts';
import { processorMs } from '../../support/processor-ms.ts';

const edited = (content: string | Buffer, edits: Edit | Edit[], encoding?: string) =>
  applyEdits(Buffer.from(content as string), [edits].flat(), { path: 'a.ts', encoding });

const textAfter = async (content: string, edits: Edit | Edit[]) =>
  (await edited(content, edits)).bytes.toString();

const refusal = (content: string | Buffer, edits: Edit | Edit[], encoding?: string) =>
  failureOf(edited(content, edits, encoding));

describe('the place of an edit', () => {
  it('has to be the only one in the file', async () => {
    expect(await refusal('a\nfoo\nb\nfoo foo\n', { old: 'foo', new: 'bar' })).toBe(
      'AMBIGUOUS_EDIT: a.ts: old_string occurs 3 times (lines 2, 4). Give more of the text around it, or replace_all for every place.',
    );
    expect(await refusal('x\n'.repeat(30), { old: 'x', new: 'y' })).toContain(
      '(lines 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, …)',
    );
    expect(await refusal('x'.repeat(20_000), { old: 'x', new: 'y' })).toContain('more than 100 times');
  });

  it('is not the only one when it overlaps itself', async () => {
    expect(await refusal('aaa', { old: 'aa', new: 'b' })).toMatch(/^AMBIGUOUS_EDIT: .*occurs 2 times/);
    expect(await textAfter('aaa', { old: 'aa', new: 'b', all: true })).toBe('ba');
  });

  it('can be in a long text that repeats itself', async () => {
    const started = process.cpuUsage();
    const content = `${'a'.repeat(500_000)}b${'a'.repeat(500_000)}`;
    const old = `${'a'.repeat(2000)}b${'a'.repeat(2000)}`;
    const { bytes } = await edited(content, { old, new: 'x' });
    expect(bytes.toString() === `${'a'.repeat(498_000)}x${'a'.repeat(498_000)}`).toBe(true);
    expect(await refusal('a'.repeat(1e6), { old: `b${'a'.repeat(900)}`, new: 'x' })).toMatch(/^NOT_FOUND/);
    expect(await refusal('a'.repeat(1e6), { old: 'a'.repeat(400_000), new: 'x' })).toMatch(/^AMBIGUOUS_EDIT/);
    expect(processorMs(started)).toBeLessThan(20_000);
  });
});

describe('an edit that is much work', () => {
  it('is refused before it is begun', async () => {
    const before = process.memoryUsage().arrayBuffers;
    for (const [content, edit] of [
      ['a'.repeat(9e6), { old: 'a', new: 'b' }],
      [`\r\n${'a'.repeat(1e4)}`, { old: 'a', new: 'x\n'.repeat(5e4) }],
    ] as const)
      expect(await refusal(content, { ...edit, all: true })).toMatch(
        /^TOO_LARGE: a\.ts: it would change more than 100,000 places, or make more than 64 MB/,
      );
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(64e6);
  });

  it('takes time in proportion to the size of one line, not to its square', async () => {
    const places = 50_000;
    const before = Buffer.from(`\r\n${`b${'a'.repeat(100)}`.repeat(places)}`);
    const started = process.cpuUsage();
    const { bytes, encoding } = await edited(before, { old: 'b', new: 'c\nd', all: true });
    expect(bytes.equals(Buffer.from(before.toString().replaceAll('b', 'c\r\nd')))).toBe(true);
    const diff = await unifiedDiff(before, bytes, { path: 'a.ts', encoding });
    expect([diff.added, diff.removed]).toEqual([places + 1, 1]);
    expect(processorMs(started)).toBeLessThan(20_000);
  });

  it('lets others work, and ends when the call is cancelled', async () => {
    const content = Buffer.from('ab\r\n'.repeat(2e6));
    const miss = { old: 'ab\nab\nzz', new: 'q' };
    let others = 0;
    const work = setInterval(() => others++, 1);
    expect(await refusal(content, miss)).toMatch(/^NOT_FOUND/);
    clearInterval(work);
    expect(others).toBeGreaterThan(0);
    const calling = new AbortController();
    const cancelled = applyEdits(content, [miss], { path: 'a.ts', signal: calling.signal });
    calling.abort();
    expect(await failureOf(cancelled)).toMatch(/^CANCELLED/);
  });
});

describe('several edits of one file', () => {
  it('each see what those before have made', async () => {
    expect(
      await textAfter('one\ntwo\nthree\n', [
        { old: 'two', new: 'zwei' },
        { old: 'one\nzwei', new: 'eins' },
        { old: 'three\n', new: 'drei' },
      ]),
    ).toBe('eins\ndrei');
  });
});

describe('an edit that makes no sense', () => {
  it('is refused with the way out', async () => {
    expect(await refusal('a', { old: '', new: 'b' })).toMatch(
      /^ARG_INVALID: a\.ts: old_string is empty\. To insert, give a line/,
    );
    expect(await refusal('a', { old: 'a', new: 'a' })).toMatch(
      /^ARG_INVALID: a\.ts: old_string and new_string are the same/,
    );
    expect(await refusal('a', { old: 'a', new: '\ud83d' })).toMatch(
      /^ARG_INVALID: a\.ts: new_string: has half of a surrogate pair/,
    );
    expect(await refusal('', { old: 'a', new: 'b' })).toMatch(/^NOT_FOUND: .*The file is empty/);
  });
});

describe('line endings', () => {
  it('ATTACK 65: stay CRLF in a CRLF file that is edited with LF', async () => {
    expect(await textAfter('a\r\nb\r\nc\r\n', { old: 'a\nb\n', new: 'a\nx\ny\n' })).toBe(
      'a\r\nx\r\ny\r\nc\r\n',
    );
    expect(await textAfter('a\r\nb\r\nc', { old: 'b', new: 'b\nd' })).toBe('a\r\nb\r\nd\r\nc');
    expect(await textAfter('a\r\nb\r\nc', { old: '\nb', new: '' })).toBe('a\r\nc');
    expect(await textAfter('a\r\nb\r\nc', { old: 'b\n', new: '' })).toBe('a\r\nc');
  });

  it('ATTACK 65: stay as they are in a mixed file, line by line', async () => {
    const mixed = 'a\nb\r\nc\nd\r\ne\n';
    expect(await textAfter(mixed, { old: 'b\nc\nd\n', new: 'b\nnew\nc\nd\n' })).toBe(
      'a\nb\r\nnew\r\nc\nd\r\ne\n',
    );
    expect(await textAfter(mixed, { old: 'b\nc\nd\n', new: 'B\nC\nD\n' })).toBe('a\nB\r\nC\nD\r\ne\n');
    expect(await textAfter(mixed, { old: 'a\nb\n', new: 'b\n' })).toBe('b\r\nc\nd\r\ne\n');
    expect(await textAfter(mixed, { old: 'c', new: 'c\nx' })).toBe('a\nb\r\nc\nx\nd\r\ne\n');
    expect(await textAfter(mixed, { old: 'd', new: 'd\nx' })).toBe('a\nb\r\nc\nd\r\nx\r\ne\n');
  });

  it('are those of each place for itself', async () => {
    expect(await textAfter('x\ny\r\nx\r\ny\n', { old: 'x\ny\n', new: 'x\nz\n', all: true })).toBe(
      'x\nz\r\nx\r\nz\n',
    );
  });

  it('are those of the file when CRLF is given and not there', async () => {
    const { bytes, notes } = await edited('a\nb\nc\n', { old: 'a\r\nb\r\n', new: 'a\r\nx\r\nb\r\n' });
    expect(bytes.toString()).toBe('a\nx\nb\nc\n');
    expect(notes).toEqual(['the line endings of the file were kept']);
  });

  it('are LF and CRLF alone', async () => {
    expect(await refusal('a\rb\rc\n', { old: 'a\nb', new: 'x' })).toMatch(/^NOT_FOUND/);
  });
});

describe('lines that differ from those of the file', () => {
  const content = 'zero\none\n\ttwo\nthree\n';
  const noted = async (before: string, edit: Edit) => {
    const { bytes, notes } = await edited(before, edit);
    return [bytes.toString(), notes.join('; ')];
  };

  it.each([
    ['read_file', '2\tone\n3\t\ttwo', '2\tone\n3\t\tTWO'],
    ['cat -n', '     2\tone\n     3\t\ttwo\n', '     2\tone\n     3\t\tTWO\n'],
    ['an arrow', '  2→one\n  3→\ttwo', '  2→one\n  3→\tTWO'],
  ])('are found with line numbers from %s', async (_, old, fresh) => {
    expect(await noted(content, { old, new: fresh })).toEqual([
      'zero\none\n\tTWO\nthree\n',
      'old_string matched line 2, but not exactly: line numbers at the beginning of the lines were left out',
    ]);
  });

  it('are taken as text when their number is in the file', async () => {
    expect(await textAfter('1\tone\none\n', { old: '1\tone', new: 'x' })).toBe('x\none\n');
  });

  it.each([
    ['that do not rise', { old: '2\tone\n2\t\ttwo', new: 'x' }],
    ['of which only some are in new', { old: '2\tone\n3\t\ttwo', new: '2\tone\nbetween\n3\t\ttwo' }],
    ['that are no line numbers', { old: '8080:one', new: '8080:two' }],
    ['before what is no whole line', { old: '2:ne\n3:\ttwo', new: 'x' }],
  ])('are not guessed at with numbers %s', async (_, edit) => {
    expect(await refusal(content, edit)).toMatch(/^NOT_FOUND/);
  });

  it('keep the blanks at the ends of the lines that stay', async () => {
    expect(
      await noted('if (a) {  \n  b();\t\n}\n', { old: 'if (a) {\n  b();\n}', new: 'if (a) {\n  c();\n}' }),
    ).toEqual(['if (a) {  \n  c();\n}\n', expect.stringContaining('blanks at the ends')]);
  });

  it('give their new text the indentation of the file where it differs throughout', async () => {
    const before = 'class A {\n    run() {\n        go();\n\n        end();\n    }\n}\n';
    const edit = {
      old: 'run() {\n    go();\n\n    end();\n}\n',
      new: 'run() {\n    if (x) {\n        go();\n    }\n}\n',
    };
    expect(await noted(before, edit)).toEqual([
      'class A {\n    run() {\n        if (x) {\n            go();\n        }\n    }\n}\n',
      expect.stringContaining('indentation'),
    ]);
    expect(await textAfter('    a\n    b\n', { old: '\ta\n\tb\n', new: '\ta\n\tc\n' })).toBe(
      '    a\n    c\n',
    );
    // Not by the same in each line, or further left than it can be shifted.
    expect(await refusal('  a\n    b\n', { old: 'a\nb\n', new: 'x' })).toMatch(/^NOT_FOUND/);
    expect(await refusal('a\nb\n', { old: '  a\n  b', new: 'c\n  b' })).toMatch(/^NOT_FOUND/);
  });

  it('keep the signs of the file when quotes, dashes and blanks are plain', async () => {
    expect(
      await noted('say “hello” — to\u00a0x\nend\n', { old: 'say "hello" - to x', new: 'say "hello" - to y' }),
    ).toEqual(['say “hello” — to\u00a0y\nend\n', expect.stringContaining('of another form')]);
  });

  it('are unescaped with the new text when they have been escaped twice', async () => {
    expect(
      await noted('\tlog("a");\n\tend();\n', {
        old: '\\tlog(\\"a\\");\\n\\tend();',
        new: '\\tlog(\\"b\\");\\n\\tend();',
      }),
    ).toEqual(['\tlog("b");\n\tend();\n', expect.stringContaining('one level of escapes')]);
    expect(
      await textAfter('if (a && b < c) {}\n', {
        old: 'if (a &amp;&amp; b &lt; c) {}',
        new: 'if (a &lt; c) {}',
      }),
    ).toBe('if (a < c) {}\n');
  });

  it('are refused when they are in two places', async () => {
    expect(await refusal('f( )  \nx\nf( )\t\n', { old: 'f( )\n', new: 'g\n' })).toMatch(/^NOT_FOUND/);
  });

  it('never change what is outside of them: broken UTF-8, the last line without an end', async () => {
    const before = Buffer.concat([Buffer.from('éüöä\n'), Buffer.of(0xff), Buffer.from('\n  one\n  two')]);
    const after = Buffer.concat([Buffer.from('éüöä\n'), Buffer.of(0xff), Buffer.from('\n  one\n  zwei')]);
    expect((await edited(before, { old: 'one\ntwo', new: 'one\nzwei' })).bytes).toEqual(after);
    expect(await textAfter('a\n  b  \nc', { old: '  b\n', new: '' })).toBe('a\nc');
  });
});

describe('an edit that was made before', () => {
  it.each([
    ['const a = oldName;\n', 'const a = newName;\n', { old: 'oldName(1)', new: 'const a = newName;' }],
    ['import a\n', 'import a\nimport something\n', { old: 'import a', new: 'import a\nimport something' }],
  ])('is answered as made already: %j', async (_, content, edit) => {
    const { bytes, notes, places } = await edited(content, edit);
    expect([bytes.toString(), places]).toEqual([content, 0]);
    expect(notes.join()).toMatch(/^already so: new_string is there \(line 1\)/);
  });
});

describe('a new text that stands for code', () => {
  it.each([
    '// ... rest of the code ...',
    '# ... existing code ...',
    '    /* ... remaining methods ... */',
    '// ...existing code...',
    '<!-- rest of file unchanged -->',
    '... rest of the implementation',
    '// (rest of the functions stay the same)',
  ])('is refused where it leaves code out: %s', async (line) => {
    expect(await refusal('1\nb\n', { old: '1', new: `x\n${line}\ny` })).toMatch(
      /^ARG_INVALID: .*stands for code/,
    );
    expect(await textAfter(`1\n${line}\n`, { old: '1', new: `b\n${line}` })).toContain('b\n');
  });

  it.each([
    '  ...rest,',
    'const { a, ...other } = b;',
    '  ...existing',
    '// and so on ...',
    '// the rest of it',
  ])('is not refused where it is code itself: %s', async (line) => {
    expect(await textAfter('a\n', { old: 'a', new: line })).toBe(`${line}\n`);
  });
});

describe('text that is not in the file', () => {
  const content =
    'export function beta(name: string) {\n\tconst greeting = "Hello, " + name;\n\tconsole.log(greeting);\n\treturn greeting;\n}\n';

  it.each([
    ['indentation', '    const greeting = "Hello, " + name;\n    console.log(greeting);', 2],
    ['trailing blanks', '\tconsole.log(greeting);  \n\treturn', 3],
    ['quotes', "const greeting = 'Hello, ' + name;", 2],
    ['case', 'export function Beta(name: string) {', 1],
  ])('is shown with its place when it would be there but for %s', async (_, old, line) => {
    expect(await refusal(content, { old, new: 'x' })).toContain(`The nearest begins at line ${line}.`);
  });

  it('is shown with blanks and characters that look alike made visible', async () => {
    const refused = await refusal(content, { old: '    const greeting = "Hello, " + name;', new: 'x' });
    expect(refused.split('\n').slice(1)).toEqual([
      '(- as given, + as in the file; · is a blank, → a tab)',
      '- given  ····const·greeting·=·"Hello,·"·+·name;',
      '+ 2  →const·greeting·=·"Hello,·"·+·name;',
    ]);
    expect(await refusal('let a\u200b = 1;\n', { old: 'let a = 1;', new: 'x' })).toContain(
      '+ 1  let·a⟨U+200B⟩·=·1;',
    );
    expect(await refusal('// cafe\u0301\n', { old: '// café', new: 'x' })).toContain('+ 1  //·cafe⟨U+0301⟩');
  });

  it('is shown with the lines that are nearest, and their numbers', async () => {
    const old =
      'export function beta(name: string) {\n\tconst greeting = "Hi, " + name;\n\treturn greeting;\n}';
    expect((await refusal(`\n\n${content}`, { old, new: 'x' })).split('\n').slice(2)).toEqual([
      '  3  export function beta(name: string) {',
      '- given  →const greeting = "Hi, " + name;',
      '+ 4  →const greeting = "Hello, " + name;',
      '+ 5  →console.log(greeting);',
      '  6  \treturn greeting;',
      '  7  }',
    ]);
  });

  it('is found roughly in a line that is very long', async () => {
    const line = `${'x'.repeat(50_000)};function foo(a,b){return a+b}${'y'.repeat(50_000)}`;
    const refused = await refusal(line, { old: 'function foo(a,c){return a+b}', new: 'x' });
    expect(refused).toMatch(/\+ 1 {2}…x+;function foo\(a,b\)\{return a\+b\}y+…$/);
    expect(refused.length).toBeLessThan(1000);
  });

  it('is found roughly in a line longer than what is searched, whatever its characters', async () => {
    const line = `${'中'.repeat(700_001)};function foo(a,b){return a+b}${'国'.repeat(9)}`;
    expect(await refusal(line, { old: 'function foo(a,c){return a+b}', new: 'x' })).toMatch(
      /\+ 1 {2}…中+;function foo\(a,b\)\{return a\+b\}国+$/,
    );
  });

  it('is called unlike the file when it is', async () => {
    expect(await refusal(content, { old: 'SELECT 1 FROM users', new: 'x' })).toContain(
      'Nothing in the file is like it.',
    );
  });

  it('is reported soon, whatever the sizes', async () => {
    const lines = Array.from({ length: 25_000 }, (_, index) => `  const value${index} = compute(${index});`);
    const hostile: [string, string][] = [
      [lines.join('\n'), lines.slice(9000, 9200).join('\n').replaceAll('compute', 'komputer')],
      [lines.join('\n'), 'nothing of the kind\n'.repeat(200)],
      ['\n'.repeat(1e6), 'xyz\n'.repeat(200)],
      ['same line\n'.repeat(1e5), `${'same line\n'.repeat(200)}other`],
      ['a'.repeat(1e6), `${'a'.repeat(1e5)}b`],
      [`x ${' '.repeat(1e6)}y\n`, '&lt;&amp;'.repeat(8e5)],
      [`x ${' '.repeat(1e6)}y\n`, Array.from({ length: 4e5 }, (_, index) => `${index + 1}: x`).join('\n')],
      [`x ${' '.repeat(1e6)}y\n`, `${' '.repeat(4e6)}q`],
    ];
    for (const [content, old] of hostile) {
      const started = process.cpuUsage();
      const refused = await refusal(content, { old, new: 'x' });
      expect(refused).toMatch(/^NOT_FOUND/);
      expect(refused.length).toBeLessThan(8000);
      // Some 50 ms; the rest is room for a busy machine.
      expect(processorMs(started)).toBeLessThan(20_000);
    }
  });
});
