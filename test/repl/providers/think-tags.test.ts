import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createThinkSplitter, type Thought } from '../../../src/repl/providers/think-tags.ts';
import { processorMs } from '../../support/processor-ms.ts';

function split(...chunks: string[]): Thought[] {
  const splitter = createThinkSplitter();
  const all: Thought[] = [];
  for (const { type, text } of [...chunks.flatMap((chunk) => splitter.push(chunk)), ...splitter.end()]) {
    const last = all.at(-1);
    if (last?.type === type) all[all.length - 1] = { type, text: last.text + text };
    else all.push({ type, text });
  }
  return all;
}
const text = (text: string): Thought => ({ type: 'text', text });
const reasoning = (text: string): Thought => ({ type: 'reasoning', text });

describe('thoughts between tags', () => {
  it.each(['think', 'thinking', 'reasoning', 'THINK'])('are told from the answer: <%s>', (tag) => {
    expect(split(`<${tag}>\nhm, <b>\n</${tag}>\n\nYes.`)).toEqual([reasoning('hm, <b>\n'), text('Yes.')]);
  });

  it('may come after blanks, at a later line and again right after others', () => {
    expect(split('\n  <think>a</think><think>b</think>c\n<think>d</think>e')).toEqual([
      text('\n  '),
      reasoning('ab'),
      text('c\n'),
      reasoning('d'),
      text('e'),
    ]);
  });

  it('are text in the middle of a line, in a code fence and under another tag', () => {
    for (const whole of [
      'Use <think>x</think> so.',
      '```xml\n<think>x</think>\n```\n',
      '~~~~\n```\n~~~\n<think>x</think>\n',
      '<thinker>x</thinker>',
      '<think >x',
    ])
      expect(split(whole)).toEqual([text(whole)]);
  });

  it('are found after a fence is closed, and after one line that only looks like a fence', () => {
    expect(split('```\nx\n```\n<think>y')).toEqual([text('```\nx\n```\n'), reasoning('y')]);
    expect(split('```x```\n<think>y')).toEqual([text('```x```\n'), reasoning('y')]);
  });

  it('lose a closing tag that nothing opened', () => {
    expect(split('</think>\n\nYes.')).toEqual([text('Yes.')]);
    expect(split('So I say yes.\n</think>\nYes.')).toEqual([text('So I say yes.\nYes.')]);
  });

  it('that do not end are thoughts to the end', () => {
    expect(split('<think>a\n</thin')).toEqual([reasoning('a\n</thin')]);
    expect(split('<thin')).toEqual([text('<thin')]);
  });

  it('are not shown before it is certain what they are', () => {
    const splitter = createThinkSplitter();
    expect(splitter.push('<thi')).toEqual([]);
    expect(splitter.push('nk>so</th')).toEqual([reasoning('so')]);
    expect(splitter.push('ink>')).toEqual([]);
    expect(splitter.push('Yes')).toEqual([text('Yes')]);
  });
});

const piece = fc.oneof(
  fc.constantFrom(
    '<think>',
    '</think>',
    '<thinking>',
    '</reasoning>',
    '<',
    '</',
    '<thi',
    '\n',
    '\r\n',
    '```',
    '~~~',
    '`',
    ' ',
    '😀',
  ),
  fc.string({ maxLength: 5 }),
);
const answer = fc.array(piece, { maxLength: 20 }).map((pieces) => pieces.join(''));

it('says the same whichever way the answer is cut', () => {
  fc.assert(
    fc.property(answer, fc.array(fc.nat(200), { maxLength: 8 }), (whole, cuts) => {
      const at = [0, ...cuts.map((cut) => Math.min(cut, whole.length)).sort((a, b) => a - b), whole.length];
      const chunks = at.slice(1).map((end, i) => whole.slice(at[i], end));
      expect(split(...chunks)).toEqual(split(whole));
      // Halves of a pair as well.
      expect(split(...whole.split(''))).toEqual(split(whole));
    }),
    { numRuns: 1000 },
  );
});

it('loses nothing but tags and the line ends after them', () => {
  const bare = (text: string) => text.replaceAll(/<\/?(think|thinking|reasoning)>|[\r\n]/gi, '');
  fc.assert(
    fc.property(answer, (whole) => {
      const said = split(whole)
        .map((each) => each.text)
        .join('');
      expect(bare(said)).toBe(bare(whole));
    }),
    { numRuns: 1000 },
  );
});

it.each(['<', '<think>', '</', '<thinkin', '`', '\n<'])(
  'takes time in proportion to the length of %j repeated',
  (unit) => {
    const started = process.cpuUsage();
    split(...unit.repeat(100_000 / unit.length).split(''));
    expect(processorMs(started)).toBeLessThan(2000);
  },
);
