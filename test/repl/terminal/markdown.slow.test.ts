import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createMarkdownStream } from '../../../src/repl/terminal/markdown.ts';
import { createPaint } from '../../../src/repl/terminal/paint.ts';
import { printable } from '../../../src/repl/terminal/printable.ts';
import type { Paint } from '../../../src/repl/terminal/terminal.ts';
import { cells } from '../../../src/repl/terminal/width.ts';
import { processorMs } from '../../support/processor-ms.ts';

const paint = createPaint({ palette: 'dark', env: {}, stream: { isTTY: true } });
/** Styles as tags, to be read. */
const tagged: Paint = Object.fromEntries(
  Object.keys(paint).map((name) => [name, (text: string) => `<${name}>${text}</${name}>`]),
) as unknown as Paint;

function render(
  text: string,
  { sizes = [text.length], look = paint, width = 60, screen = true } = {},
): string {
  let shown = '';
  const stream = createMarkdownStream({ paint: look, width, screen, write: (part) => (shown += part) });
  for (let at = 0, turn = 0; at < text.length; turn++) {
    const size = Math.max(1, sizes[turn % sizes.length] ?? 1);
    stream.push(text.slice(at, at + size));
    at += size;
  }
  stream.end();
  return shown;
}
const tags = (text: string): string => render(text, { look: tagged, width: 500 });
const bare = (shown: string): string => shown.replaceAll(/\u001b\[[0-9;]*m/g, '');

describe('a paragraph', () => {
  it.each([
    ['plain', 'plain\n'],
    ['a **b** c', 'a <strong>b</strong> c\n'],
    ['*a* _b_', '<emphasis>a</emphasis> <emphasis>b</emphasis>\n'],
    [
      '***a*** **b *c***',
      '<strong><emphasis>a</emphasis></strong> <strong>b <emphasis>c</emphasis></strong>\n',
    ],
    ['`a` ``b`c`` ` `` `', '<code>a</code> <code>b`c</code> <code>``</code>\n'],
    ['`*a*` **`b`**', '<code>*a*</code> <strong><code>b</code></strong>\n'],
    ['[a](http://b)', 'a (<link>http://b</link>)\n'],
    ['[a](http://b "c")', 'a (<link>http://b</link> "c")\n'],
    ['[http://b](http://b) <http://b>', '<link>http://b</link> <link>http://b</link>\n'],
    ['[**a**](b_(c)_d)', '<strong>a</strong> (<link>b_(c)_d</link>)\n'],
    ['![a](b.png)', 'a (<link>b.png</link>)\n'],
    ['~~a *b*~~ ~~c~~', '<struck>a <emphasis>b</emphasis></struck> <struck>c</struck>\n'],
    ['\\*a\\* C:\\dir', '*a* C:\\dir\n'],
    ['这是**重点。**内容', '这是<strong>重点。</strong>内容\n'],
    ['<div class="a">', '<div class="a">\n'],
  ])('%s', (text, shown) => {
    expect(tags(text)).toBe(shown);
  });

  it.each([
    '2*3*4 and 2 * 3',
    '__init__',
    'snake_case_name',
    'https://x/_a_/*b*',
    'a **b',
    '`a',
    '[a] [b',
    'a[0](',
    'a ****',
    'wow! **',
    '~/a ~~b',
    '~~ a ~~ ~~~b~~~',
    '5 < 6',
  ])('leaves %s as it is', (text) => {
    expect(tags(text)).toBe(`${text}\n`);
  });

  it('closes nothing that began on another line', () => {
    expect(tags('a **b\nc** d')).toBe('a **b\nc** d\n');
  });

  it('waits for the end of a construct only so long', () => {
    const long = `**${'a'.repeat(400)}** b`;
    expect(tags(long)).toBe(`${long}\n`);
  });
});

describe('lines', () => {
  it('styles headings', () => {
    expect(tags('# A `b`\n####### no\n#no')).toBe('<heading>A <code>b</code></heading>\n####### no\n#no\n');
  });

  it('begins the style of a heading again after one inside it', () => {
    expect(render('# A `b` c')).toBe(
      '\u001b[1m\u001b[36mA \u001b[33mb\u001b[39m\u001b[1m\u001b[36m c\u001b[39m\u001b[22m\n',
    );
  });

  it('shows lists, nested, numbered and with boxes', () => {
    expect(tags('- a\n  * **b**\n    + c\n10. d\n- [ ] e\n- [x] f\n-no')).toBe(
      '• a\n  • <strong>b</strong>\n    • c\n10. d\n☐ e\n☑ f\n-no\n',
    );
  });

  it('shows quotes, also nested', () => {
    expect(tags('> a\n>> b')).toBe(
      '<dim>│ </dim><quote>a</quote>\n<dim>│ </dim><dim>│ </dim><quote>b</quote>\n',
    );
  });

  it('draws rules', () => {
    const rule = `<dim>${'─'.repeat(80)}</dim>\n`;
    expect(tags('---\n* * *\n____')).toBe(rule.repeat(3));
  });

  it('shows code as it is', () => {
    expect(tags('```ts\n**a**\n  | b |\n\n# c\n```\n**d**')).toBe(
      '<dim>```ts</dim>\n**a**\n  | b |\n\n# c\n<dim>```</dim>\n<strong>d</strong>\n',
    );
  });

  it('ends a fence only with one as long, of the same kind', () => {
    expect(tags('````\n```\n~~~~\n````\n*a*')).toBe(
      '<dim>````</dim>\n```\n~~~~\n<dim>````</dim>\n<emphasis>a</emphasis>\n',
    );
  });

  it('ends a fence with the quote it is in', () => {
    expect(tags('> ```\n> *a*\n*b*')).toBe(
      '<dim>│ </dim><dim>```</dim>\n<dim>│ </dim>*a*\n<emphasis>b</emphasis>\n',
    );
  });

  it('takes a fence that begins in a list item', () => {
    expect(tags('1. ```\n   *a*\n   ```\n*b*')).toBe(
      '1. <dim>```</dim>\n   *a*\n<dim>   ```</dim>\n<emphasis>b</emphasis>\n',
    );
  });

  it('colours diffs', () => {
    expect(tags('```diff\n+a\n-b\n c\n```')).toBe(
      '<dim>```diff</dim>\n<added>+a</added>\n<removed>-b</removed>\n c\n<dim>```</dim>\n',
    );
  });

  it('leaves indented code as it is, but not what is nested in a list', () => {
    expect(tags('a\n\n    *b*\n\n- c\n\n    *d*\n')).toBe(
      'a\n\n    *b*\n\n• c\n\n    <emphasis>d</emphasis>\n',
    );
  });
});

describe('a table', () => {
  const table = '| name | n |\n|:-----|--:|\n| 漢字 | 1 |\n| **b** | 20 |\n';

  it('is aligned by what is seen', () => {
    expect(bare(render(table))).toBe(['name │  n', '─────┼───', '漢字 │  1', 'b    │ 20', ''].join('\n'));
  });

  it('is followed by the text after it', () => {
    expect(
      bare(render(`${table}text`))
        .split('\n')
        .at(-2),
    ).toBe('text');
  });

  it('wraps what is too wide, within the width', () => {
    const shown = bare(
      render('| a | b |\n|---|---|\n| x | one two three four five six seven |', { width: 24 }),
    );
    for (const line of shown.split('\n')) expect(cells(line)).toBeLessThan(24);
    expect(shown.replaceAll(/[\s│]+/g, ' ')).toContain('one two three four five six seven');
  });

  it('is text without its second row', () => {
    expect(tags('| **a** |\nb')).toBe('| <strong>a</strong> |\nb\n');
  });

  it('is shown as it came when it is too long to hold', () => {
    const long = `| a |\n|---|\n${'| **b** |\n'.repeat(300)}`;
    expect(render(long)).toBe(long);
    const wide = `| a |\n|---|\n| ${'b'.repeat(70_000)} |\n| c |\n`;
    expect(render(wide)).toBe(wide);
  });
});

it('writes the first character at once, and a line before it ends', () => {
  const written: string[] = [];
  const stream = createMarkdownStream({
    paint,
    width: 80,
    screen: true,
    write: (text) => written.push(text),
  });
  stream.push('H');
  expect(written).toEqual(['H']);
  stream.push('ello **bo');
  expect(written.join('')).toBe('Hello ');
  stream.push('ld** and');
  expect(bare(written.join(''))).toBe('Hello bold and');
});

it('writes a heading and the lines of a fence while they come', () => {
  let shown = '';
  const stream = createMarkdownStream({ paint, width: 80, screen: true, write: (text) => (shown += text) });
  stream.push('# Head');
  expect(bare(shown)).toBe('Head');
  stream.push('ing\n```\nsome co');
  expect(bare(shown)).toContain('some co');
});

it('passes text on where there is no screen, without its controls', () => {
  expect(render('# **a**\u001b]0;x\u0007\n| b |', { screen: false })).toBe('# **a**\n| b |\n');
});

it('is laid out the same without colours, but for a line through text', () => {
  const look = createPaint({ palette: 'dark', env: { NO_COLOR: '1' }, stream: { isTTY: true } });
  const text = '# **a** `b`\n- [x] c\n\n| d | e |\n|---|--:|\n| *f* | 1 |\n> g\n---\n';
  expect(render(text, { look })).toBe(bare(render(text)));
  expect(render('~~a~~', { look })).toBe('~~a~~\n');
});

describe('rows', () => {
  const words = 'one two three four five six seven eight nine ten eleven twelve thirteen';
  const rows = (text: string, width = 40) => bare(render(text, { width })).split('\n').slice(0, -1);

  it('end between words', () => {
    expect(rows(words)).toEqual([
      'one two three four five six seven eight',
      'nine ten eleven twelve thirteen',
    ]);
    expect(rows(`${'x'.repeat(39)} y\nz`)).toEqual(['x'.repeat(39), 'y', 'z']);
    expect(rows(`${'x'.repeat(38)} y`)).toEqual([`${'x'.repeat(38)} y`]);
  });

  it('go on below the text of a list item, behind the bar of a quote', () => {
    expect(rows(`- ${words}`, 45)).toEqual(
      ['• one two three four five six seven eight nine', '  ten eleven twelve thirteen']
        .map((row) => row.replace(/ nine$/, ''))
        .map((row, at) => (at === 1 ? `  nine${row.slice(1)}` : row)),
    );
    expect(rows(`  10. [ ] ${words}`).slice(1)).toEqual([
      '        seven eight nine ten eleven',
      '        twelve thirteen',
    ]);
    expect(rows(`>> ${words}`)).toEqual([
      '│ │ one two three four five six seven',
      '│ │ eight nine ten eleven twelve',
      '│ │ thirteen',
    ]);
  });

  it('take a style along, which ends with the row', () => {
    expect(render('**aaaa bbbb cccc dddd** ee', { width: 10 })).toBe(
      '\u001b[1maaaa bbbb\u001b[22m\n\u001b[1mcccc dddd\u001b[22m\nee\n',
    );
  });

  it('keep the address of a link whole, also where much room is left', () => {
    expect(rows('[the manual](https://example.com/a/b)', 35)).toEqual([
      'the manual ',
      '(https://example.com/a/b)',
    ]);
  });

  it('end around wide characters, but not before a full stop', () => {
    expect(rows('漢字漢字。漢字漢字 abc', 10)).toEqual(['漢字漢字。', '漢字漢字', 'abc']);
    expect(rows('漢字漢字漢。', 10)).toEqual(['漢字漢字', '漢。']);
  });

  it('hold no word in the middle of a row, and at its end only until it is known to fit', () => {
    let shown = '';
    const stream = createMarkdownStream({ paint, width: 40, screen: true, write: (text) => (shown += text) });
    stream.push('A wor');
    expect(shown).toBe('A wor');
    stream.push('d, and some more of them whi');
    expect(shown).toBe('A word, and some more of them');
    stream.push('ch');
    expect(shown).toBe('A word, and some more of them');
    stream.push(' ');
    expect(shown).toBe('A word, and some more of them which');
    stream.push('whatever');
    expect(shown).toBe('A word, and some more of them which\nwhatever');
  });

  it('of code, and words longer than a row, are left to the terminal', () => {
    expect(rows(`\`\`\`\n${words}\n\`\`\`\n\n    ${words}`)).toEqual([
      '```',
      words,
      '```',
      '',
      `    ${words}`,
    ]);
    expect(rows('x'.repeat(95))).toEqual(['x'.repeat(95)]);
  });
});

it('is ready for another text after the end', () => {
  let shown = '';
  const stream = createMarkdownStream({
    paint: tagged,
    width: 80,
    screen: true,
    write: (text) => (shown += text),
  });
  stream.push('```\n*a');
  stream.end();
  stream.push('*b*');
  stream.end();
  stream.end();
  expect(shown).toBe('<dim>```</dim>\n*a\n<emphasis>b</emphasis>\n');
});

/** Lines of what Markdown is made of, right and wrong. */
const markdown = fc
  .array(
    fc.oneof(
      { weight: 3, arbitrary: fc.constantFrom('word', ' ', '\n', 'x1', '漢字', '😀') },
      {
        weight: 2,
        arbitrary: fc.constantFrom(
          '*',
          '**',
          '***',
          '_',
          '__',
          '`',
          '``',
          '```',
          '~~~',
          '~~',
          '[',
          ']',
          '](',
          ')',
          '\\',
          '!',
          '<',
        ),
      },
      fc.constantFrom(
        '# ',
        '- ',
        '* ',
        '+ ',
        '1. ',
        '> ',
        '[ ] ',
        '---',
        '| ',
        ' | ',
        '|---|',
        '\n|-|-|\n',
        '    ',
        '\t',
        '\n\n',
      ),
      fc.constantFrom(
        '```diff\n',
        '\n```\n',
        '<https://a_b>',
        'https://a_b_c',
        '[t](http://u "v")',
        '**bold**',
        '~~old~~',
        '*a `b` c*',
        '| a | b |\n|---|:-:|\n',
      ),
      fc.constantFrom('\u001b[2J', '\u001b', '\r\n', '\u009b', '\u001b]8;;', '\u202e', '\ud83d'),
    ),
    { maxLength: 60 },
  )
  .map((parts) => parts.join(''));

describe('whatever comes', () => {
  it('shows the same however the text is cut', () => {
    fc.assert(
      fc.property(
        markdown,
        fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 5 }),
        (text, sizes) => {
          expect(render(text, { sizes })).toBe(render(text));
        },
      ),
      { numRuns: 2000 },
    );
  });

  it('shows the same at the limits of what is held', () => {
    const pieces = ['**', '~~', '`', '[a](b', ' ', '#', '- ', '> ', '```', '\\', '1', '<http://', '| '];
    for (const piece of pieces) {
      for (let length = 296; length < 305; length++) {
        for (const end of ['', '\n', '**', '`\n', ')', ' x', '*a']) {
          const text = `${piece}${'a'.repeat(length - piece.length)}${end}${piece}${' '.repeat(length)}${end}`;
          expect(render(text, { sizes: [1] })).toBe(render(text));
        }
      }
    }
  });

  it('loses no letter and no digit, and keeps their order', () => {
    fc.assert(
      fc.property(markdown, (text) => {
        const shown = bare(render(text, { width: 200 }));
        let at = 0;
        for (const [char] of printable(text).matchAll(/[\p{L}\p{N}]/gu)) {
          const found = shown.indexOf(char, at);
          expect(found, `${JSON.stringify(char)} of ${JSON.stringify(text)}`).toBeGreaterThanOrEqual(at);
          at = found + char.length;
        }
      }),
      { numRuns: 2000 },
    );
  });

  it('moves no cursor and sends nothing but styles', () => {
    fc.assert(
      fc.property(fc.oneof(markdown, fc.string({ unit: 'binary', maxLength: 200 })), (text) => {
        expect(bare(render(text))).not.toMatch(
          /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/,
        );
      }),
      { numRuns: 1000 },
    );
  });

  it('ends every style with the line it is in', () => {
    fc.assert(
      fc.property(markdown, (text) => {
        for (const line of render(text).split('\n')) {
          const state = new Map<string, boolean>();
          for (const [, code = ''] of line.matchAll(/\u001b\[(\d+)m/g)) {
            const end = { 22: 'weight', 23: 'slant', 24: 'line', 29: 'strike', 39: 'color' }[code];
            const begin = { 1: 'weight', 2: 'weight', 3: 'slant', 4: 'line', 9: 'strike' }[code] ?? 'color';
            state.set(end ?? begin, end === undefined);
          }
          expect([...state.values()]).not.toContain(true);
        }
      }),
    );
  });

  it.each([
    '*',
    '[',
    '`',
    '_',
    'a',
    'a ',
    '**a ',
    '[`',
    '*a **b ',
    '`` ` ',
    '> ',
    '- ',
    '| a ',
    '|a\n',
    '![',
    '[a](',
    '**a *b `',
    '*a* **b** `c` ',
    '\n',
  ])('shows 200 KB of %j in time that grows with the length alone', (piece) => {
    const time = (bytes: number) => {
      const text = piece.repeat(bytes / piece.length);
      const begun = process.cpuUsage();
      render(text, { sizes: [4096] });
      return processorMs(begun);
    };
    time(20_000);
    const tenth = time(20_000);
    expect(time(200_000)).toBeLessThan(40 * tenth + 500);
  });
});
