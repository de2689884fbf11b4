import { describe, expect, it } from 'vitest';
import { budgetOf } from '../../../src/repl/context/budget.ts';
import { pruned, prunedCalls } from '../../../src/repl/context/prune.ts';
import { call, Conversation, picture, shown } from './conversation.ts';

/** Protects 10,000 tokens of output, and prunes from 4,000 on. */
const budget = budgetOf(40_000);
const output = (tokens: number) => 'x'.repeat(4 * tokens);
const over = 50_000;

const prunedIds = (conversation: Conversation, used = over) =>
  prunedCalls(conversation.items(), budget, used);

describe('what is pruned', () => {
  it('is output older than the last two turns and than the newest 10,000 tokens of output', () => {
    const conversation = new Conversation().says('one').uses('a', output(6_000)).uses('b', output(5_000));
    conversation.uses('c', output(4_000)).says('two').uses('d', output(4_000)).says('three');
    // d and c are 8,000; with b it would be 13,000.
    expect(prunedIds(conversation)).toEqual(['b', 'a']);
  });

  it('is nothing of the last two turns', () => {
    const conversation = new Conversation().says('one').uses('a', output(30_000)).says('two');
    expect(prunedIds(conversation)).toBeUndefined();
    expect(prunedIds(conversation.says('three'))).toEqual(['a']);
  });

  it('is nothing when it frees less than 4,000 tokens', () => {
    const conversation = (tokens: number) =>
      new Conversation()
        .says('one')
        .uses('a', output(tokens))
        .uses('b', output(10_000))
        .says('two')
        .says('three');
    expect(prunedIds(conversation(4_000))).toBeUndefined();
    expect(prunedIds(conversation(4_100))).toEqual(['a']);
  });

  it('is not what is shorter than the note in its place, or was pruned before', () => {
    const conversation = new Conversation().says('one').uses('a', 'ok').uses('b', output(9_000));
    conversation.uses('c', output(10_000)).says('two').says('three');
    expect(prunedIds(conversation)).toEqual(['b']);
    conversation.add({ type: 'prune', callIds: ['b'] });
    expect(prunedIds(conversation)).toBeUndefined();
    conversation.uses('d', output(9_000)).uses('e', output(5_000)).says('four').says('five');
    expect(prunedIds(conversation)).toEqual(['d', 'c']);
  });

  it('is no call whose id was used again for a newer one', () => {
    const conversation = new Conversation().says('one').uses('a', output(9_000)).uses('b', output(9_000));
    conversation.uses('a', output(9_000)).says('two').says('three');
    expect(prunedIds(conversation)).toEqual(['b']);
  });
});

describe('images', () => {
  const conversation = () => {
    const made = new Conversation().says('one', 3).uses('a', output(6_000)).uses('b', output(10_000));
    return made.says('two', 1).says('three', 1);
  };

  it('go first, and alone when that is enough', () => {
    const items = conversation().items();
    expect(prunedCalls(items, budget, budget.limit + 4_000)).toEqual([]);
    expect(prunedCalls(items, budget, over)).toEqual(['a']);
    expect(pruned(items, []).map(({ message }) => shown(message))).toEqual([
      expect.stringMatching(/^one(\n\[image left out to save space\]){3}$/),
      '',
      output(6_000),
      '',
      output(10_000),
      'two\n<image>',
      'three\n<image>',
    ]);
  });

  it('of tools go as well', () => {
    const made = new Conversation().says('one').answers('', [call('a')]);
    made
      .gets('a', 'shots', { images: [picture, picture, picture] })
      .says('two')
      .says('three');
    expect(prunedCalls(made.items(), budget, budget.limit)).toEqual([]);
  });
});

it('makes of the items what the view makes of the recorded pruning', () => {
  const conversation = new Conversation().says('one', 2).answers('', [call('a'), call('b')]);
  conversation.gets('b', output(3_000), { images: [picture] }).gets('a', output(9_000));
  conversation.uses('c', output(9_000)).says('two', 1).says('three');
  const items = conversation.items();
  const callIds = prunedCalls(items, budget, over)!;
  const expected = pruned(items, callIds).map(({ message }) => message);
  conversation.add({ type: 'prune', callIds });
  expect(conversation.messages()).toEqual(expected);
});
