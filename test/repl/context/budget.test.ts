import { describe, expect, it } from 'vitest';
import { budgetAfterOverflow, budgetOf, fillOf, usedTokens } from '../../../src/repl/context/budget.ts';
import { estimateTools } from '../../../src/repl/context/tokens.ts';
import { Conversation, counted } from './conversation.ts';

const tools = [{ name: 'read_file', description: 'Reads.', inputSchema: { type: 'object' } }];

describe('budgetOf', () => {
  it.each([
    // window, reserve, limit, keep, protectedOutput, leastPruned, summary, fallback
    [8_000, 1_600, 6_400, 2_000, 2_000, 800, 1_280, 1_600],
    [100_000, 16_384, 83_616, 20_000, 25_000, 10_000, 13_107, 20_000],
    [128_000, 16_384, 108_800, 20_000, 32_000, 12_800, 13_107, 20_000],
    [1_000_000, 16_384, 850_000, 20_000, 40_000, 20_000, 13_107, 20_000],
  ])(
    'shares out %i tokens',
    (window, reserve, limit, keep, protectedOutput, leastPruned, summary, fallback) => {
      const figures = { window, reserve, limit, keep, protectedOutput, leastPruned, summary, fallback };
      expect(budgetOf(window)).toEqual(figures);
    },
  );

  it.each([undefined, 0, -1, NaN, Infinity])('takes a window of %s for 128,000', (window) => {
    expect(budgetOf(window)).toEqual(budgetOf(128_000));
  });
});

it('believes a provider that says it is too much', () => {
  const budget = budgetOf(128_000);
  expect(budgetAfterOverflow(budget, 130_000)).toBe(budget);
  expect(budgetAfterOverflow(budget, 6_000).limit).toBe(4_800);
});

describe('usedTokens', () => {
  it('counts everything when no provider did', () => {
    const { messages } = new Conversation().says('abcd').answers('abcd').view();
    expect(usedTokens(messages, tools, 'abcd')).toEqual({
      tokens: 3 + estimateTools(tools),
      estimated: true,
    });
  });

  it('adds to the last usage what came after it', () => {
    const usage = { input: 100, cacheRead: 200, cacheWrite: 300, output: 50, estimated: false };
    const { messages } = new Conversation()
      .says('x'.repeat(4_000))
      .answers('abcd', [], { usage: counted(7) })
      .says('abcd')
      .answers('abcd', [], { usage })
      .says('abcdabcd')
      .view();
    expect(usedTokens(messages, tools, 'abcd')).toEqual({ tokens: 652, estimated: false });
  });

  it('goes by an older usage when the last answer was interrupted', () => {
    const { messages } = new Conversation()
      .says('abcd')
      .answers('abcd', [], { usage: counted(100) })
      .says('abcd')
      .answers('abcd', [], { usage: counted(3), stop: 'aborted' })
      .view();
    expect(usedTokens(messages, [])).toEqual({ tokens: 102, estimated: false });
  });

  it('ignores what was counted before a compaction', () => {
    const conversation = new Conversation()
      .says('abcd')
      .answers('abcd', [], { usage: counted(90_000) })
      .says('abcd');
    conversation.add({
      type: 'compaction',
      summary: '',
      firstKeptId: 'e2',
      tokensBefore: 90_000,
      tokensAfter: 30,
      by: 'model',
    });
    expect(usedTokens(conversation.items(), [])).toMatchObject({ estimated: true });
    expect(usedTokens(conversation.items(), []).tokens).toBeLessThan(50);
    conversation.answers('abcd', [], { usage: counted(40) });
    expect(usedTokens(conversation.items(), [])).toEqual({ tokens: 40, estimated: false });
  });

  it('estimates after a pruning until the next usage arrives', () => {
    const conversation = new Conversation()
      .says('one', 1)
      .uses('a', 'x'.repeat(40_000))
      .says('two')
      .answers('abcd', [], { usage: counted(20_000) })
      .says('three');
    expect(usedTokens(conversation.items(), []).estimated).toBe(false);
    conversation.add({ type: 'prune', callIds: ['a'] });
    expect(usedTokens(conversation.items(), [])).toMatchObject({ estimated: true });
    expect(usedTokens(conversation.items(), []).tokens).toBeLessThan(2_000);
    conversation.answers('abcd', [], { usage: counted(8_500) });
    expect(usedTokens(conversation.items(), [])).toEqual({ tokens: 8_500, estimated: false });
  });
});

it.each([
  [0, 0, 108_800, 'free'],
  [64_000, 50, 44_800, 'free'],
  [98_000, 77, 10_800, 'near'],
  [108_800, 85, 0, 'full'],
  [140_800, 110, 0, 'full'],
])('tells how full the window is with %i tokens', (used, percent, available, state) => {
  expect(fillOf(budgetOf(128_000), used)).toEqual({ percent, available, state });
});
