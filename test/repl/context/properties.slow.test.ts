import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { budgetOf } from '../../../src/repl/context/tokens.ts';
import { compact, type Summarise } from '../../../src/repl/context/compaction.ts';
import { userText } from '../../../src/repl/context/summary.ts';
import { estimateRequest, firstTokens, usedTokens } from '../../../src/repl/context/tokens.ts';
import type { EntryOf } from '../../../src/repl/session/entry.ts';
import { ProviderFailure } from '../../../src/repl/providers/provider.ts';
import { call, Conversation, counted, pictures, problemsOf, shown, uncounted } from './conversation.ts';

/** Small, so that a random conversation fills it. */
const budget = budgetOf(3_000);

const requestOf = (conversation: Conversation) => ({
  system: '',
  messages: conversation.messages(),
  tools: [],
});
const usedBy = (conversation: Conversation) => usedTokens(requestOf(conversation)).tokens;
const sizeOf = (conversation: Conversation) => estimateRequest(requestOf(conversation));

const words = fc.oneof(
  { weight: 4, arbitrary: fc.string({ unit: 'grapheme', maxLength: 40 }) },
  {
    weight: 1,
    arbitrary: fc.constantFrom('', ' ', '\ud800', '</summary>'),
  },
  {
    weight: 3,
    arbitrary: fc
      .tuple(fc.constantFrom('x', 'ab ', '长', '😀'), fc.integer({ max: 6_000, min: 1 }))
      .map(([unit, count]) => unit.repeat(count)),
  },
);

const outcome = fc.constantFrom<EntryOf<'tool'>['state'] | 'nothing'>(
  'done',
  'done',
  'done',
  'started',
  'proposed',
  'nothing',
);

const step = fc.oneof(
  { weight: 3, arbitrary: fc.record({ do: fc.constant('say' as const), words, images: fc.nat(2) }) },
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant('answer' as const),
      words,
      calls: fc.array(fc.record({ words, outcome, images: fc.nat(1), sameId: fc.boolean() }), {
        maxLength: 4,
      }),
      order: fc.constantFrom('in order', 'reversed', 'late'),
      aborted: fc.boolean(),
      counted: fc.boolean(),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('compact' as const),
      model: fc.array(fc.oneof(words, fc.constantFrom('OVERFLOW' as const, 'REFUSED' as const)), {
        maxLength: 5,
      }),
    }),
  },
);
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

function answerWith(conversation: Conversation, step: Extract<Step, { do: 'answer' }>, at: number) {
  const calls = step.calls.map(({ words, sameId }, index) =>
    call(sameId ? `call_${index}` : `call_${at}_${index}`, JSON.stringify({ path: words.slice(0, 20) })),
  );
  // What a provider counts is about what there is.
  const usage = step.counted ? counted(Math.ceil(usedBy(conversation) * 1.1), 10) : uncounted;
  const stop = step.aborted && at % 3 === 0 ? ({ stop: 'aborted' } as const) : {};
  conversation.answers(step.words, calls, { usage, ...stop });
  const results = calls.map((made, index) => () => {
    const { outcome, words, images } = step.calls[index]!;
    const { id: callId, name } = made;
    if (outcome === 'done') conversation.gets(callId, words, { images: pictures(images) });
    else if (outcome !== 'nothing') conversation.add({ type: 'tool', callId, name, state: outcome });
  });
  if (step.order === 'reversed') results.reverse();
  if (step.order === 'late') conversation.says('meanwhile');
  for (const result of results) result();
}

function scripted(answers: readonly string[]): Summarise {
  const left = [...answers];
  return async () => {
    const next = left.shift() ?? '';
    if (next === 'OVERFLOW') throw new ProviderFailure('MODEL_OVERFLOW', next);
    if (next === 'REFUSED') throw new ProviderFailure('MODEL_REFUSED', next);
    return next;
  };
}

/** The newest words of the person, wherever they are. */
const newestWords = (conversation: Conversation) => {
  const newest = conversation.path.findLast(({ type }) => type === 'user');
  return newest?.type === 'user' ? userText({ role: 'user', content: newest.content }) : '';
};

async function compactIt(conversation: Conversation, step: Extract<Step, { do: 'compact' }>) {
  const { messages: items, summary: previous } = conversation.view();
  const used = usedBy(conversation);
  const before = sizeOf(conversation);
  const result = await compact(
    {
      items,
      budget,
      used,
      tools: [],
      system: '',
      previous,
    },
    scripted(step.model),
    new AbortController().signal,
  );
  if (typeof result === 'string') return;
  conversation.add({ type: 'compaction', ...result });
  // All that was promised is so.
  expect(sizeOf(conversation)).toBe(result.tokensAfter);
  expect(result.tokensAfter).toBeLessThan(result.tokensBefore);
  expect(sizeOf(conversation)).toBeLessThan(before);
  const all = conversation.messages().map(shown).join('\n').replaceAll('<image>', '[image]');
  expect(all).toContain(firstTokens(newestWords(conversation), budget.keep));
}

/** Says what a step says; in a valid session the person speaks first. */
async function play(steps: readonly Step[]): Promise<Conversation> {
  const conversation = new Conversation().says('hello');
  for (const [at, step] of steps.entries()) {
    if (step.do === 'say') conversation.says(step.words, step.images);
    if (step.do === 'answer') answerWith(conversation, step, at);
    if (step.do === 'compact') await compactIt(conversation, step);
  }
  return conversation;
}

it('sends, of any beginning of any session, only what every wire takes, and one summary at most', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 25 }), async (steps) => {
      const conversation = await play(steps);
      for (let length = 0; length <= conversation.path.length; length++) {
        const path = conversation.path.slice(0, length);
        const { messages, summary } = conversation.view(path);
        expect(problemsOf(messages.map(({ message }) => message))).toEqual([]);
        const summaries = messages.filter(({ isSummary }) => isSummary);
        expect(summaries.length).toBe(summary === undefined ? 0 : 1);
        expect(messages.findIndex(({ isSummary }) => isSummary)).toBeLessThanOrEqual(0);
      }
    }),
    { numRuns: 150 },
  );
});

it('becomes small enough when everything fits in pieces, however often it has to', async () => {
  const piece = fc.string({ unit: 'grapheme-ascii', minLength: 50, maxLength: 400 });
  await fc.assert(
    fc.asyncProperty(
      fc.array(piece, { minLength: 60, maxLength: 150 }),
      fc.boolean(),
      async (pieces, works) => {
        const conversation = new Conversation().says('hello');
        for (const [at, piece] of pieces.entries()) {
          if (at % 7 === 0) conversation.says(piece);
          else conversation.uses(`call${at}`, piece);
          if (usedBy(conversation) < budget.limit) continue;
          await compactIt(conversation, {
            do: 'compact',
            model: works ? ['so far, so good'] : [],
          });
          expect(usedBy(conversation)).toBeLessThan(budget.limit);
        }
      },
    ),
    { numRuns: 40 },
  );
});
