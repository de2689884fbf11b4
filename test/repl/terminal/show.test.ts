import { describe, expect, it, vi } from 'vitest';
import type { ToolCall } from '../../../src/repl/message.ts';
import { foldedDiff } from '../../../src/repl/terminal/folded-diff.ts';
import { createPaint } from '../../../src/repl/terminal/paint.ts';
import {
  argumentsForApproval,
  callLine,
  diffLines,
  duration,
  looksLikeDiff,
  resultLine,
  table,
  thoughtsLine,
  todoLines,
  usageLine,
} from '../../../src/repl/terminal/show.ts';
import type { Paint, Terminal } from '../../../src/repl/terminal/terminal.ts';
import { createTurnView } from '../../../src/repl/terminal/turn-view.ts';
import { cells } from '../../../src/repl/terminal/width.ts';
import { failed, replied, type Tool } from '../../../src/repl/toolbox/tool.ts';

const paint = createPaint({ palette: 'dark', env: {}, stream: {} });
const tagged: Paint = Object.fromEntries(
  Object.keys(paint).map((name) => [name, (text: string) => `<${name}>${text}</${name}>`]),
) as unknown as Paint;
const look = { paint, width: 60 };
const call = (args: string, name = 'mcp__crib__read_file'): ToolCall => ({ id: '1', name, arguments: args });
const tool = (server: string) => ({ server, tool: 'read_file' }) as Tool;

describe('the line of a call', () => {
  it('names tool and arguments', () => {
    expect(callLine(call('{"path":"a.ts","lines":50}'), tool('toolcrib'), look)).toBe(
      '● read_file(path: a.ts, lines: 50)',
    );
  });

  it('names the server of a tool that is not ours', () => {
    expect(callLine(call(''), tool('crib'), look)).toBe('● crib: read_file()');
  });

  it('stays one line within the width, whatever the model wrote', () => {
    for (const args of [
      '{"text":"a\\nb\\u001b[2J"}',
      'no\u001b[2J json\n',
      '[1,\n2]',
      `{"content":"${'漢'.repeat(5000)}"}`,
    ]) {
      const line = callLine(call(args, `evil\u001b]0;x\u0007\n${args}`), undefined, look);
      expect(line).not.toMatch(/[\u0000-\u001f]/);
      expect(cells(line)).toBeLessThanOrEqual(60);
    }
  });
});

describe('the line of a result', () => {
  const line = (reply: Parameters<typeof resultLine>[0]) => resultLine(reply, { ...look, ms: 1234 });

  it.each([
    [replied('a\nb\nc\n'), '  └ 1.2s 3 lines'],
    [replied('done'), '  └ 1.2s done'],
    [replied(' \n'), '  └ 1.2s no output'],
    [failed('no such file\nmore'), '  └ 1.2s error: no such file'],
    [replied('no test\nfailed\n[exit code: 2]'), '  └ 1.2s 3 lines: [exit code: 2'],
    [replied('fatal: no\nsuch'), '  └ 1.2s 2 lines: fatal: no'],
    [replied('exit code 0\nwell'), '  └ 1.2s 2 lines'],
    [replied('Edited a: +1 -1\n@@ -1 +1 @@\n-a\n+b'), '  └ 1.2s Edited a: +1 -1'],
    [replied('diff --git a b\n@@ -1 +1 @@\n-a\n+b'), '  └ 1.2s 4 lines'],
    [
      { ...replied(''), images: [{ type: 'image', mimeType: 'image/png', data: '' }] } as const,
      '  └ 1.2s no output + 1 image',
    ],
  ])('%o', (reply, shown) => {
    expect(line(reply)).toBe(shown);
  });

  it('says whose it is when calls run side by side', () => {
    expect(resultLine(replied('a\nb'), { ...look, ms: 1234, name: 'x: read_file' })).toBe(
      '  └ x: read_file 1.2s 2 lines',
    );
  });

  it('is cut at the width, and commands nothing', () => {
    expect(cells(line(failed(`\u001b[2J${'x'.repeat(500)}`)))).toBeLessThanOrEqual(60);
    expect(line(failed('\u001b[2Jx'))).toBe('  └ 1.2s error: x');
  });
});

it.each([
  [85, '85ms'],
  [999, '1.0s'],
  [59_949, '59.9s'],
  [59_951, '1m 00s'],
  [125_000, '2m 05s'],
])('shows %i ms as %s', (ms, shown) => {
  expect(duration(ms)).toBe(shown);
});

it('shows thoughts in one line', () => {
  expect(thoughtsLine('First\n\nI look at\u001b[2J it.', 3000, look)).toBe(
    'thought for 3.0s: First I look at it.',
  );
  expect(cells(thoughtsLine('long '.repeat(1000), 3000, look))).toBe(59);
  expect(cells(thoughtsLine('long '.repeat(1000), 3000, { paint, width: 200 }))).toBe(199);
});

it('tells how long the model thought only when it took a while', () => {
  const noted: string[] = [];
  const terminal = { paint, width: 80, screen: false, note: (text: string) => noted.push(text), write() {} };
  const view = createTurnView(terminal as unknown as Terminal, {
    contextWindow: () => 1000,
    thoughts: () => false,
    tool: () => undefined,
  });
  const clock = vi.spyOn(performance, 'now');
  for (const ms of [49, 50]) {
    clock.mockReturnValue(0);
    view.show({ type: 'reasoning', text: `For ${ms}.` });
    clock.mockReturnValue(ms);
    view.show({ type: 'text', text: 'Well.' });
  }
  clock.mockRestore();
  expect(noted).toEqual([
    expect.stringMatching(/thought: For 49\./),
    expect.stringMatching(/thought for 50ms: For 50\./),
  ]);
});

describe('the usage line', () => {
  const usage = { input: 2300, output: 480, cacheRead: 10_000, cacheWrite: 0, estimated: false };
  it('says what a turn took', () => {
    expect(usageLine(usage, { window: 200_000, ms: 3200 }, paint)).toBe(
      'in 12.3k (cached 10k) · out 480 · 6% of 200k · 3.2s',
    );
  });

  it('marks what was estimated', () => {
    const estimated = { ...usage, cacheRead: 0, estimated: true };
    expect(usageLine(estimated, { window: 1_000_000, ms: 3200 }, paint)).toBe(
      'in ~2.3k · out ~480 · ~0% of 1M · 3.2s',
    );
  });

  it.each([
    [74, 'dim'],
    [75, 'warning'],
    [85, 'bad'],
  ])('shows %i percent as %s', (percent, style) => {
    const line = usageLine(
      { ...usage, input: percent * 10, output: 0, cacheRead: 0 },
      { window: 1000, ms: 1 },
      tagged,
    );
    expect(line).toContain(`<${style}>${percent}% of 1k</${style}>`);
  });
});

describe('the arguments a person is asked about', () => {
  const shown = (args: Record<string, unknown>, most = 12) => argumentsForApproval(args, paint, most);

  it('are shown whole when they are short', () => {
    expect(shown({ path: 'a.ts', lines: 5, deep: { a: [1] }, none: '' })).toEqual([
      '  path: a.ts',
      '  lines: 5',
      '  deep: {"a":[1]}',
      '  none: ""',
    ]);
  });

  it('hide nothing behind controls, zero-width characters or spaces', () => {
    expect(shown({ 'a\u202e': 'x\u001b[2K\ry\u200b', b: ' z ' })).toEqual([
      '  a\\u202e: x\\x1b[2K\\x0dy\\u200b',
      '  b: " z "',
    ]);
  });

  it('cannot look like other arguments', () => {
    expect(shown({ text: 'a\n  path: /etc' })).toEqual([
      '  text: (2 lines, 14 characters)',
      '  │ a',
      '  │   path: /etc',
    ]);
  });

  it('are folded in the middle, and say how much there is', () => {
    const text = Array.from({ length: 50 }, (_, at) => `line ${at}`).join('\n');
    const lines = shown({ text });
    expect(lines).toHaveLength(14);
    expect(lines[0]).toBe('  text: (50 lines, 389 characters)');
    expect(lines[9]).toBe('  │ … 38 more lines (/show) …');
    expect(lines.at(-1)).toBe('  │ line 49');
    expect(shown({ text }, Infinity)).toHaveLength(51);
  });

  it('show both ends of a long line', () => {
    const [size, line] = shown({ command: `ls ${'x'.repeat(10_000)}; rm -rf ~` });
    expect(size).toBe('  command: (1 line, 10,013 characters)');
    expect(line).toMatch(/ls xxx.*… 9,513 more characters \(\/show\) … x+; rm -rf ~$/);
  });

  it('say how many more there are', () => {
    const many = Object.fromEntries(Array.from({ length: 40 }, (_, at) => [`a${at}`, at]));
    expect(shown(many).at(-1)).toBe('  … 10 more arguments (/show)');
    expect(shown(many, Infinity)).toHaveLength(40);
  });
});

describe('diffs', () => {
  const diff =
    'diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@ f\n same\n--- gone\n+++ come\n--- a/y\n+++ b/y\n@@ -1 +1 @@\n-a\n+b\n';

  it('are coloured by the count of their hunks', () => {
    expect(diffLines(diff, tagged)).toEqual([
      '<strong>diff --git a/x b/x</strong>',
      '<strong>--- a/x</strong>',
      '<strong>+++ b/x</strong>',
      '<dim>@@ -1,2 +1,2 @@ f</dim>',
      ' same',
      '<removed>--- gone</removed>',
      '<added>+++ come</added>',
      '<strong>--- a/y</strong>',
      '<strong>+++ b/y</strong>',
      '<dim>@@ -1 +1 @@</dim>',
      '<removed>-a</removed>',
      '<added>+b</added>',
    ]);
  });

  it('are told from other text', () => {
    expect(looksLikeDiff(`Changed:\n${diff}`)).toBe(true);
    expect(looksLikeDiff('- one\n- two\n@@ what')).toBe(false);
  });
});

it('shows rows under each other, wrapped within the width', () => {
  expect(
    table(
      [
        ['/a', 'one'],
        ['/漢字', 'two\nthree'],
      ],
      40,
    ),
  ).toEqual(['/a     one', '/漢字  two three']);
  const lines = table([['name', 'word '.repeat(20).trim()]], 30);
  expect(lines.length).toBeGreaterThan(3);
  for (const line of lines) expect(cells(line)).toBeLessThan(30);
  expect(table([Array.from({ length: 40 }, () => 'x')], 30)).toHaveLength(1);
  expect(table([], 30)).toEqual([]);
});

it('shows what is to be done', () => {
  expect(
    todoLines(
      [
        { text: 'a\u001b[2J', status: 'completed', priority: 'low' },
        { text: 'b', status: 'in_progress', priority: 'medium' },
        { text: 'c', status: 'pending', priority: 'high' },
      ],
      paint,
    ),
  ).toEqual(['1 ☑ a', '2 ▸ b', '3 ☐ c !']);
});

describe('a diff in few rows', () => {
  const plain = { paint: createPaint({ palette: 'plain', env: {}, stream: {} }), width: 80 };
  const context = (name: string) => [1, 2, 3].map((at) => ` ${name}${at}`);
  const change = (name: string, count = 1) =>
    ['-', '+'].flatMap((mark) => Array.from({ length: count }, (_, at) => `${mark}${name}${at}`));
  const head = '@@ -1,20 +1,20 @@';

  it('is whole when a fold would save six rows or fewer', () => {
    const lines = [head, ...change('x', 7)];
    expect(foldedDiff(lines, { ...plain, room: 9 })).toEqual(lines);
    expect(foldedDiff(lines, { ...plain, room: 8 })).not.toEqual(lines);
  });

  it('loses first what stays the same', () => {
    const lines = [head, ...context('a'), ...change('x'), ...context('b'), ...context('c'), ...change('y')];
    expect(foldedDiff(lines, { ...plain, room: 7 })).toEqual([
      head,
      '… 2 lines: /show',
      ' a3',
      '-x0',
      '+x0',
      ' b1',
      '… 4 lines: /show',
      ' c3',
      '-y0',
      '+y0',
    ]);
  });

  it('is never cut between what goes and what comes', () => {
    const lines = [head, ...change('x', 2), ' same', ...change('y', 8)];
    for (const room of [7, 8, 9, 10])
      expect(foldedDiff(lines, { ...plain, room })).toEqual([...lines.slice(0, 6), '… 16 more lines: /show']);
    const [, ...first] = foldedDiff([head, ...change('long', 30)], { ...plain, room: 12 });
    expect(first).toEqual([
      '-long0',
      '-long1',
      '-long2',
      '-long3',
      '… 26 lines: /show',
      '+long0',
      '+long1',
      '+long2',
      '+long3',
      '+long4',
      '+long5',
      '… 24 more lines: /show',
    ]);
  });
});
