import { expect, it } from 'vitest';
import { budgetOf } from '../../../src/repl/context/budget.ts';
import { cutOf } from '../../../src/repl/context/cut.ts';
import { call, Conversation } from './conversation.ts';

/** Keeps 1,000 tokens. */
const budget = budgetOf(4_000);
const text = (tokens: number) => 'x'.repeat(4 * tokens);

/** The entry that is kept first. */
const firstKept = (conversation: Conversation) => {
  const items = conversation.items();
  const cut = cutOf(items, budget);
  return cut === undefined ? undefined : items[cut]?.entryId;
};

const turns = (count: number, tokens: number) => {
  const conversation = new Conversation();
  for (let turn = 0; turn < count; turn++) conversation.says(text(tokens)).answers(text(tokens));
  return conversation;
};

it('keeps the newest 1,000 tokens, from a message of the person on', () => {
  // The newest 1,000 tokens begin at e20, an answer.
  expect(firstKept(turns(15, 95))).toBe('e19');
});

it('keeps ten messages even when fewer have 1,000 tokens', () => {
  expect(firstKept(turns(10, 160))).toBe('e11');
});

it('keeps fewer when ten would have more than 2,000', () => {
  expect(firstKept(turns(10, 400))).toBe('e17');
});

it('cuts a turn that is longer than 1,000 tokens at an answer, never before a result', () => {
  const conversation = new Conversation().says('one').answers('ok').says('two');
  for (let round = 0; round < 20; round++) {
    conversation.answers('', [call(`a${round}`), call(`b${round}`)]);
    conversation.gets(`a${round}`, text(50)).gets(`b${round}`, text(50));
  }
  const items = conversation.items();
  const cut = cutOf(items, budget)!;
  expect(items[cut]!.message.role).toBe('assistant');
  const kept = items.length - cut;
  expect(kept % 3).toBe(0);
  expect(kept).toBeGreaterThanOrEqual(27);
  expect(kept).toBeLessThanOrEqual(33);
});

it('does not keep a result that is larger than all that may be kept, unless it is the newest', () => {
  const conversation = new Conversation()
    .says('one')
    .uses('a', text(50))
    .uses('b', text(9_000))
    .answers('so');
  expect(firstKept(conversation)).toBe('e6');
  expect(firstKept(new Conversation().says('one').uses('a', text(50)).uses('b', text(9_000)))).toBe('e4');
});

it('cuts a short conversation at its newest turn, or its newest answer', () => {
  expect(firstKept(turns(3, 10))).toBe('e5');
  expect(firstKept(new Conversation().says('one').uses('a', 'x').answers('done'))).toBe('e4');
});

it('cuts nothing where there is nothing to cut', () => {
  expect(firstKept(new Conversation())).toBeUndefined();
  expect(firstKept(new Conversation().says(text(9_000)))).toBeUndefined();
});

it('never leaves only the summary to summarise', () => {
  const conversation = new Conversation()
    .says('one')
    .says('two')
    .add({
      type: 'compaction',
      summary: text(300),
      firstKeptId: 'e2',
      tokensBefore: 2,
      tokensAfter: 1,
      by: 'model',
    });
  expect(firstKept(conversation)).toBeUndefined();
  expect(firstKept(conversation.answers('three'))).toBe('e4');
});
