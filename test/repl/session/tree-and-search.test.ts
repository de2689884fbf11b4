import { rmSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { forkSession, treeLines, userEntries } from '../../../src/repl/session/fork.ts';
import { searchSessions } from '../../../src/repl/session/search.ts';
import { createSession, memorySession } from '../../../src/repl/session/session.ts';
import { sessionStore, type Store } from '../../../src/repl/session/store.ts';
import { unfinishedCalls } from '../../../src/repl/session/unfinished.ts';
import { answers, calls, emptyFolder, emptyStore, says, tool, reopened } from './support.ts';

const cwd = process.cwd();

describe('a fork', () => {
  it('begins with the path to an entry, as it was', () => {
    const store = emptyStore();
    const session = createSession(store, { cwd, temporary: true });
    session.append({ type: 'mode', mode: 'plan' });
    const one = session.append(says('one'));
    const answer = session.append(answers('1'));
    session.append(says('two'));
    const fork = forkSession(store, session, answer.id);
    expect(fork.path()).toEqual(session.path().slice(0, 3));
    expect(fork.header).toMatchObject({ parent: session.id, temporary: true, cwd });
    fork.close();
    expect(reopened(fork.file!).path()).toEqual(session.path().slice(0, 3));
    expect(userEntries(session).map(({ id }) => id)).toEqual([one.id, session.leaf]);
  });

  it('of nothing leaves no file, and of an entry that is not there is refused', () => {
    const store = emptyStore();
    const session = createSession(store, { cwd });
    expect(forkSession(store, session).file).toBeUndefined();
    expect(() => forkSession(store, session, 'none')).toThrow(expect.objectContaining({ code: 'USAGE' }));
  });
});

describe('the tree', () => {
  const shown = (session: ReturnType<typeof memorySession>) =>
    treeLines(session).map(
      ({ depth, mark, label, current }) => `${'  '.repeat(depth)}${mark}${label}${current ? ' <' : ''}`,
    );

  it('is flat where the conversation went straight on, and one deeper for each branch', () => {
    const session = memorySession(cwd);
    session.append(says('one'));
    const first = session.append(answers('1', [calls('a')]));
    session.append(tool('a', 'done', 'x'));
    session.append(says('two'));
    session.append(answers('2'));
    session.moveTo(first.id);
    session.append({ type: 'mode', mode: 'plan' });
    const other = session.append(says('other\nway'));
    session.append(answers('3'));
    session.moveTo(other.id);
    session.append({ type: 'mode', mode: 'ask' });
    expect(shown(session)).toEqual([
      'you: one',
      'answer: 1',
      '  ├ you: two',
      '  answer: 2',
      '  └ you: other way <',
      '  answer: 3',
    ]);
  });

  it('of 20,000 entries and as many branches does not overflow', () => {
    const session = memorySession(cwd);
    for (let at = 0; at < 20_000; at++)
      session.append(at % 3 === 0 ? says('a') : { type: 'mode', mode: 'plan' });
    for (let at = 0; at < 5000; at++) {
      session.moveTo(null);
      session.append(says('b'));
    }
    expect(treeLines(session)).toHaveLength(6667 + 5000);
  });
});

describe('unfinished calls', () => {
  const path = (...bodies: Parameters<ReturnType<typeof memorySession>['append']>[0][]) => {
    const session = memorySession(cwd);
    for (const body of bodies) session.append(body);
    return session.path();
  };
  const states = (entries: ReturnType<typeof path>) =>
    unfinishedCalls(entries).map(({ call, state }) => [call.id, state]);

  it('are those without a result, as far as each got, in call order', () => {
    const answer = answers('', [calls('a'), calls('b'), calls('c'), calls('d'), calls('e')]);
    const entries = path(
      says('go'),
      answer,
      tool('a', 'proposed'),
      tool('b', 'proposed'),
      tool('c', 'proposed'),
      tool('d', 'proposed'),
      tool('d', 'started'),
      tool('d', 'done', 'x'),
      tool('c', 'started'),
    );
    expect(states(entries)).toEqual([
      ['a', 'proposed'],
      ['b', 'proposed'],
      ['c', 'started'],
      ['e', 'none'],
    ]);
  });

  it('are found after what was said since, and not in earlier answers', () => {
    const entries = path(answers('', [calls('a')]), answers('', [calls('b')]), says('hello?'));
    expect(states(entries)).toEqual([['b', 'none']]);
  });

  it('are told apart from those of an earlier answer with the same ids', () => {
    expect(
      states(path(answers('', [calls('0')]), tool('0', 'done', 'x'), answers('', [calls('0')]))),
    ).toEqual([['0', 'none']]);
  });

  it('are none after an answer in prose, and after an interrupted one', () => {
    expect(states(path(answers('', [calls('a')]), answers('done')))).toEqual([]);
    const aborted = answers('', [calls('a')]) as Extract<ReturnType<typeof answers>, { type: 'assistant' }>;
    expect(states(path({ ...aborted, message: { ...aborted.message, stop: 'aborted' } }))).toEqual([]);
    expect(states([])).toEqual([]);
  });
});

describe('search', () => {
  function said(store: Store, ...texts: string[]) {
    const session = createSession(store, { cwd });
    session.append(says(texts[0]!));
    for (const text of texts.slice(1)) session.append(answers(text));
    session.close();
    return session;
  }
  const search = (store: Store, query: string, limit = 10) =>
    searchSessions(store, query, { limit }).found.map(({ role, excerpt }) => `${role}: ${excerpt}`);

  it('finds entries with all the words in any case, and phrases as they stand', () => {
    const store = emptyStore();
    said(store, 'The Quick brown fox', 'a fox,\nquick and "quoted" \\ back', 'ÜBER die Brücke\u2028weiter');
    expect(search(store, 'FOX quick')).toEqual([
      'answer: a fox, quick and "quoted" \\ back',
      'you: The Quick brown fox',
    ]);
    expect(search(store, '"quick brown"')).toEqual(['you: The Quick brown fox']);
    expect(search(store, 'über brücke')).toEqual(['answer: ÜBER die Brücke weiter']);
    expect(search(store, '\\ back')).toHaveLength(1);
    expect(search(store, 'fox wolf')).toEqual([]);
  });

  it('finds nothing in what is no text of the conversation', () => {
    const store = emptyStore();
    said(store, 'hello', 'world');
    expect(search(store, 'fake-1')).toEqual([]);
    expect(search(store, 'assistant')).toEqual([]);
  });

  it('finds calls, results and summaries', () => {
    const store = emptyStore();
    const session = createSession(store, { cwd });
    session.append(says('go'));
    session.append(answers('', [calls('a', 'git_log', '{"path":"needle.ts"}')]));
    session.append(tool('a', 'started'));
    session.append(tool('a', 'done', 'a needle here'));
    session.append({
      type: 'compaction',
      summary: 'needle found',
      firstKeptId: 'x',
      tokensBefore: 2,
      tokensAfter: 1,
      by: 'model',
    });
    expect(search(store, 'needle')).toEqual([
      'summary: needle found',
      'tool: a needle here',
      'answer: {"path":"needle.ts"}',
    ]);
    session.close();
  });

  it('shows where a word is in a long text, without half a character', () => {
    const store = emptyStore();
    said(store, `${'😀'.repeat(1000)}x needle ${'😀'.repeat(1000)}`);
    const [found = ''] = search(store, 'needle');
    expect(found).toContain('needle');
    expect(found.isWellFormed()).toBe(true);
    expect(found.length).toBeLessThan(230);
  });

  it('keeps the newest when there are more than are wanted, and passes over what is gone', () => {
    const store = emptyStore();
    said(store, ...Array.from({ length: 20 }, (_, at) => `word ${at}`));
    expect(search(store, 'word', 3)).toEqual(['answer: word 19', 'answer: word 18', 'answer: word 17']);
    const listed = store.list();
    rmSync(listed[0]!.file);
    const found = searchSessions({ list: () => listed, listAll: () => listed }, 'word', { limit: 3 });
    expect(found).toEqual({ found: [], incomplete: false });
  });

  it('looks into other projects only when it is told to', () => {
    const state = emptyFolder();
    said(sessionStore(state, emptyFolder()), 'needle');
    const store = sessionStore(state, cwd);
    expect(searchSessions(store, 'needle', { limit: 9 }).found).toEqual([]);
    expect(searchSessions(store, 'needle', { limit: 9, all: true }).found).toHaveLength(1);
  });

  it('says so when it had no time', () => {
    const store = emptyStore();
    const session = createSession(store, { cwd });
    session.append(says('needle'));
    session.close();
    const short = searchSessions(store, 'needle', { limit: 9, withinMs: -1 });
    expect(short.incomplete).toBe(true);
  });

  it('wants a word', () => {
    expect(() => searchSessions(emptyStore(), ' "" ', { limit: 1 })).toThrow(
      expect.objectContaining({ code: 'USAGE' }),
    );
  });
});
