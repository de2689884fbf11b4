import { describe, expect, it } from 'vitest';
import { answer, call, Conversation, picture, problemsOf, shown } from './conversation.ts';
import { processorMs } from '../../support/processor-ms.ts';

const texts = (conversation: Conversation) => conversation.messages().map(shown);
const lost = 'No result was recorded; the call may or may not have run.';

describe('the messages of a path', () => {
  it('are what was said, in order, without what is not for the model', () => {
    const conversation = new Conversation()
      .says('hello')
      .add({ type: 'mode', mode: 'plan' })
      .answers('hi')
      .add({ type: 'name', name: 'greeting', by: 'model' })
      .add({ type: 'todos', todos: [{ text: 'new', status: 'pending', priority: 'low' }] });
    const { messages, summary } = conversation.view();
    expect(messages.map(({ entryId, message }) => [entryId, message.role])).toEqual([
      ['e1', 'user'],
      ['e3', 'assistant'],
    ]);
    expect(summary).toBeUndefined();
  });

  it('hold what was stored, and a text in the place of an image that is gone', async () => {
    const conversation = new Conversation().says('look', 1).answers('', [call('a')]);
    conversation.gets('a', 'here', { images: [picture] });
    expect(texts(conversation)).toEqual(['look\n<image>', '', 'here']);
    expect(conversation.messages()[2]).toMatchObject({ images: [{ type: 'image' }] });
    const { viewOf } = await import('../../../src/repl/context/view.ts');
    const gone = viewOf(conversation.path, () => ({ type: 'text', text: '[gone]' })).messages;
    expect(gone.map(({ message }) => shown(message))).toEqual(['look\n[gone]', '', 'here\n[gone]']);
  });

  it('are made once for 20,000 entries', () => {
    const conversation = new Conversation();
    for (let turn = 0; turn < 5_000; turn++) {
      conversation.says('x'.repeat(400)).uses(`call${turn}`, 'y'.repeat(400)).answers('done');
    }
    const startedAt = process.cpuUsage();
    expect(conversation.items()).toHaveLength(20_000);
    // Some 50 ms; what is not linear takes minutes.
    expect(processorMs(startedAt)).toBeLessThan(6000);
  });
});

describe('calls and results', () => {
  it('go together: the last state of each call counts', () => {
    const conversation = new Conversation().says('x').answers('', [call('a'), call('b'), call('c')]);
    for (const state of ['proposed', 'started'] as const)
      conversation.add({ type: 'tool', callId: 'a', name: 'read_file', state });
    conversation.gets('c', 'third').gets('b', 'second', { isError: true });
    const results = conversation.messages().slice(2);
    expect(results).toMatchObject([
      { callId: 'a', text: lost, isError: true },
      { callId: 'b', text: 'second', isError: true },
      { callId: 'c', text: 'third', isError: false },
    ]);
  });

  it('stand together even when the result came after the next message', () => {
    const conversation = new Conversation()
      .says('x')
      .answers('', [call('a')])
      .says('y')
      .gets('a', 'late');
    expect(texts(conversation)).toEqual(['x', '', 'late', 'y']);
  });

  it('are told apart when a server uses its ids again', () => {
    const conversation = new Conversation().says('x').uses('call_0', 'first').uses('call_0', 'second');
    expect(texts(conversation)).toEqual(['x', '', 'first', '', 'second']);
    const twice = new Conversation().says('x').answers('', [call('a'), call('a', '{"path":"b"}')]);
    twice.gets('a', 'one');
    expect(problemsOf(twice.messages())).toEqual([]);
  });

  it('of which the other half is missing are dropped, or given one', () => {
    const conversation = new Conversation()
      .says('x')
      .gets('nobody', 'result')
      .answers('', [call('a')]);
    expect(texts(conversation)).toEqual(['x', '', lost]);
  });

  it('of an answer that was interrupted are dropped, with what the wire kept of them', () => {
    const conversation = new Conversation()
      .says('x')
      .answers('I will', [call('a')], { stop: 'aborted', native: [{ type: 'tool_use' }] })
      .answers('', [call('b')], { stop: 'aborted' });
    expect(conversation.messages().slice(1)).toEqual([answer('I will', [], { stop: 'aborted' })]);
  });
});

it('drops answers that hold nothing, and answers to nobody', () => {
  const conversation = new Conversation().answers('hello?').says('x').answers('', [], { reasoning: 'hm' });
  expect(texts(conversation)).toEqual(['x']);
});

describe('a compaction', () => {
  const compaction = (summary: string, firstKeptId: string) =>
    ({ type: 'compaction', summary, firstKeptId, tokensBefore: 2, tokensAfter: 1, by: 'model' }) as const;

  it('puts its summary in the place of what is before the first kept entry', () => {
    const conversation = new Conversation()
      .says('one')
      .uses('a', 'result')
      .says('two')
      .add(compaction('ALL OF IT', 'e4'))
      .answers('three');
    const { messages, summary } = conversation.view();
    expect(summary?.summary).toBe('ALL OF IT');
    expect(messages[0]).toMatchObject({ entryId: 'e5', isSummary: true, message: { role: 'user' } });
    expect(shown(messages[0]!.message)).toContain('<summary>\nALL OF IT\n</summary>');
    expect(messages.slice(1)).toMatchObject([{ entryId: 'e4', wasKept: true }, { entryId: 'e6' }]);
    expect(messages[2]).not.toHaveProperty('wasKept');
  });

  it('replaces the one before it', () => {
    const conversation = new Conversation()
      .says('one')
      .says('two')
      .add(compaction('first', 'e2'))
      .says('three')
      .add(compaction('second', 'e4'));
    expect(conversation.view().summary?.summary).toBe('second');
    expect(texts(conversation)).toEqual([expect.stringContaining('second'), 'three']);
  });

  it('that keeps an entry of another branch is not applied', () => {
    const conversation = new Conversation().says('one').add(compaction('lost', 'e99'));
    expect(texts(conversation)).toEqual(['one']);
  });

  it('drops results of calls that it does not keep', () => {
    const conversation = new Conversation()
      .says('one')
      .answers('', [call('a')])
      .says('two');
    conversation.gets('a', 'late').add(compaction('s', 'e3'));
    expect(texts(conversation).slice(1)).toEqual(['two']);
  });
});

describe('pruning', () => {
  it('leaves a note in the place of the output of the calls it names', () => {
    const conversation = new Conversation().says('x').uses('a', 'x'.repeat(500)).uses('b', 'kept');
    conversation.add({ type: 'prune', callIds: ['a'] });
    expect(texts(conversation)).toContain('[pruned 500 chars of read_file output; call again if needed]');
    expect(texts(conversation)).toContain('kept');
  });

  it('does not touch a later call of the same id', () => {
    const conversation = new Conversation().says('x').uses('a', 'x'.repeat(500));
    conversation.add({ type: 'prune', callIds: ['a'] }).uses('a', 'new');
    expect(texts(conversation).at(-1)).toBe('new');
  });

  it('drops images that are older than the last two turns', () => {
    const conversation = new Conversation().says('one', 1).answers('', [call('a')]);
    conversation
      .gets('a', 'shot', { images: [picture] })
      .says('two', 1)
      .says('three', 1);
    const before = texts(conversation);
    conversation.add({ type: 'prune', callIds: [] });
    expect(before).toEqual(['one\n<image>', '', 'shot', 'two\n<image>', 'three\n<image>']);
    expect(texts(conversation)).toEqual([
      'one\n[image left out to save space]',
      '',
      'shot\n[image left out to save space]',
      'two\n<image>',
      'three\n<image>',
    ]);
    // It holds for what was there: only the next pruning drops more.
    conversation.says('four');
    expect(texts(conversation)).toContain('two\n<image>');
  });
});
