import {
  appendFileSync,
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Entry } from '../../../src/repl/session/entry.ts';
import { createSession, memorySession, type Session } from '../../../src/repl/session/session.ts';
import { answers, emptyFolder, emptyStore, says, tool, reopened } from './support.ts';
import { processorMs } from '../../support/processor-ms.ts';

const cwd = process.cwd();
const started = (store = emptyStore()) => {
  const session = createSession(store, { cwd });
  session.append(says('hello'));
  return session;
};
const again = (session: Session): Session => {
  session.close();
  return reopened(session.file!);
};
const texts = (path: readonly Entry[]) =>
  path.map((entry) => (entry.type === 'user' ? (entry.content[0] as { text: string }).text : entry.type));

describe('a session', () => {
  it('that is opened and left leaves no file', () => {
    const store = emptyStore();
    const session = createSession(store, { cwd });
    session.append({ type: 'mode', mode: 'plan' });
    session.close();
    expect(session.file).toBeUndefined();
    expect(existsSync(store.folder)).toBe(false);
  });

  it('has what came before the first prompt in its file', () => {
    const session = createSession(emptyStore(), { cwd });
    session.append({ type: 'mode', mode: 'plan' });
    session.append(says('hello'));
    expect(
      again(session)
        .path()
        .map(({ type }) => type),
    ).toEqual(['mode', 'user']);
  });

  it('is the same after it was opened again', () => {
    const session = started();
    session.append(answers('hi', [{ id: 'a', name: 'git_log', arguments: '' }]));
    session.append(tool('a', 'proposed'));
    session.append({ ...(tool('a', 'done', 'text') as object), ms: undefined } as never);
    session.append({ type: 'name', name: 'first', by: 'model' });
    const path = [...session.path()];
    const reopened = again(session);
    expect(reopened.path()).toEqual(path);
    expect(reopened).toMatchObject({
      name: 'first',
      id: session.id,
      header: session.header,
      leaf: session.leaf,
    });
    expect(reopened.path()).toHaveLength(4);
  });

  it('that is kept nowhere writes nothing', () => {
    const session = memorySession(cwd);
    session.append(says('hello'));
    session.moveTo(null);
    expect(session.path()).toEqual([]);
    expect(session.file).toBeUndefined();
  });

  it('gives back the very entry that it keeps, in the list that grows', () => {
    const session = started();
    const path = session.path();
    const entry = session.append(answers('hi'));
    expect(path.at(-1)).toBe(entry);
    expect(session.entry(entry.id)).toBe(entry);
    expect(session.children(entry.parent)).toEqual([entry]);
  });

  it('refuses to go to an entry that is not there', () => {
    expect(() => started().moveTo('none')).toThrow(expect.objectContaining({ code: 'USAGE' }));
  });

  it('has a name on every branch', () => {
    const session = started();
    session.append({ type: 'name', name: 'mine', by: 'person' });
    session.moveTo(null);
    session.append(says('other'));
    expect(session.name).toBe('mine');
    expect(texts(again(session).path())).toEqual(['other']);
  });

  it('refuses to write when it was closed', () => {
    const session = started();
    session.close();
    expect(() => session.append(says('more'))).toThrow(expect.objectContaining({ code: 'SESSION_UNUSABLE' }));
  });

  it('is a tree like any other, whatever is done to it and however often it is opened again', () => {
    const step = fc.oneof(
      fc.record({ kind: fc.constant('append' as const), text: fc.string({ unit: 'binary' }) }),
      fc.record({ kind: fc.constant('move' as const), to: fc.nat() }),
      fc.record({ kind: fc.constant('reopen' as const) }),
      fc.record({ kind: fc.constant('name' as const), text: fc.string() }),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
        let session = started();
        const model = new Map<string, { parent: string | null; text: string }>([
          [session.leaf!, { parent: null, text: 'hello' }],
        ]);
        let leaf = session.leaf;
        let name: string | undefined;
        for (const step of steps) {
          if (step.kind === 'append') {
            const { id } = session.append(says(step.text));
            model.set(id, { parent: leaf, text: step.text.toWellFormed() });
            leaf = id;
          } else if (step.kind === 'move') {
            const ids = [null, ...model.keys()];
            leaf = ids[step.to % ids.length]!;
            session.moveTo(leaf);
          } else if (step.kind === 'name') {
            session.append({ type: 'name', name: step.text, by: 'person' });
            name = step.text;
          } else session = again(session);
          const path: string[] = [];
          for (let at = leaf; at !== null; at = model.get(at)!.parent) path.unshift(at);
          expect(session.path().map(({ id }) => id)).toEqual(path);
          expect(texts(session.path())).toEqual(path.map((id) => model.get(id)!.text));
          expect(session.leaf).toBe(leaf);
          expect(session.name).toBe(name);
          for (const id of [null, ...model.keys()]) {
            const children = [...model].filter(([, { parent }]) => parent === id).map(([child]) => child);
            expect(session.children(id).map((child) => child.id)).toEqual(children);
          }
        }
        session.close();
      }),
      { numRuns: 60 },
    );
  });
});

describe('a session file', () => {
  it('can be read by nobody else', () => {
    const session = started();
    const modes = [session.file!, `${session.file!}.lock`].map((path) => statSync(path).mode & 0o777);
    expect(modes).toEqual([0o600, 0o600]);
    expect(statSync(dirname(session.file!)).mode & 0o777).toBe(0o700);
    chmodSync(session.file!, 0o644);
    expect(statSync(again(session).file!).mode & 0o777).toBe(0o600);
  });

  it('has one line for each entry, whatever line ends are in it', () => {
    const session = started();
    session.append(says('a\nb\r\nc\u2028d\u2029e\u0085f'));
    session.append(says('\ud800 half \udc00, whole 😀, escaped \\ud800'));
    const bytes = readFileSync(session.file!, 'utf8');
    expect(bytes.split('\n')).toHaveLength(5);
    expect(bytes.endsWith('\n')).toBe(true);
    expect(texts(session.path()).at(-1)).toBe('\ufffd half \ufffd, whole 😀, escaped \\ud800');
    const path = [...session.path()];
    expect(again(session).path()).toEqual(path);
  });

  it('that somebody else wrote with half characters is read with whole ones', () => {
    const session = started();
    const line = JSON.stringify({ id: 'x', parent: session.leaf, ts: '', ...says('\ud83d, \ud83d\ude00') });
    appendFileSync(session.file!, `${line.replace('😀', String.raw`\ud83D\uDE00`)}\n`);
    expect(texts(again(session).path()).at(-1)).toBe('\ufffd, 😀');
  });

  it('whose last line was cut loses only that line, and the next one is not glued to it', () => {
    const session = started();
    session.append(answers('complete'));
    session.append(says('cut é'));
    session.close();
    const { size } = statSync(session.file!);
    for (let cut = 1; cut < 30; cut++) {
      truncateSync(session.file!, size - 1 - cut);
      const opened = reopened(session.file!);
      expect(texts(opened.path())).toEqual(['hello', 'assistant']);
      opened.append(says('after'));
      expect(texts(again(opened).path())).toEqual(['hello', 'assistant', 'after']);
      opened.close();
      rmSync(`${session.file!}.lock`, { force: true });
    }
  });

  it('whose last line only lacks its end loses nothing', () => {
    const session = started();
    session.close();
    truncateSync(session.file!, statSync(session.file!).size - 1);
    const opened = reopened(session.file!);
    opened.append(answers('more'));
    expect(texts(again(opened).path())).toEqual(['hello', 'assistant']);
  });

  const added = (...entries: object[]): Session => {
    const session = started();
    for (const entry of entries) {
      const line = typeof entry === 'string' ? entry : JSON.stringify({ ts: '', ...entry });
      appendFileSync(session.file!, `${line}\n`);
    }
    return again(session);
  };
  const user = (id: string, parent: string | null) => ({ ...says(id), id, parent });

  it('with entries in a circle, on themselves, on nothing, or twice the same, is a tree', () => {
    const session = added(
      user('a', 'b'),
      user('b', 'a'),
      user('c', 'c'),
      user('d', 'gone'),
      user('e', null),
      user('e', 'e'),
      { type: 'leaf', to: 'gone', id: 'l', parent: 'e' },
    );
    expect(session.children(session.children(null)[0]!.id)).toHaveLength(1);
    expect(texts(session.path())).toEqual(['e']);
    expect(session.children(null)).toHaveLength(2);
  });

  it('with entries of a later version passes over them, not over what comes after', () => {
    const session = added(
      user('a', null),
      { type: 'hologram', id: 'h', parent: 'a' },
      { type: 'constructor', id: 'i', parent: 'h' },
      { type: 'user', content: [{ type: 'text' }], id: 'j', parent: 'i' },
      user('b', 'j'),
    );
    expect(texts(session.path())).toEqual(['a', 'b']);
  });

  it('with a damaged line in the middle goes on with what came after it', () => {
    const session = added(
      user('a', null),
      '{"type":"user","id":"lost' as never,
      user('b', 'lost'),
      user('c', 'b'),
    );
    expect(texts(session.path())).toEqual(['a', 'b', 'c']);
  });

  it.each([
    ['of another version', '{"v":2,"type":"session"}\n', /another version \(2\)/],
    ['that is empty', '', /empty/],
    ['of something else', 'hello\n', /no session/],
    ['whose first line is cut', '{"v":1,"type":"sess', /no session/],
  ])('%s is refused', (_, text, message) => {
    const file = join(emptyFolder(), 'a.jsonl');
    writeFileSync(file, text, { mode: 0o600 });
    expect(() => reopened(file)).toThrow(expect.objectContaining({ code: 'SESSION_UNUSABLE' }));
    expect(() => reopened(file)).toThrow(message);
    expect(readdirSync(dirname(file))).toEqual(['a.jsonl']);
  });

  it('that is missing, a link or a folder is refused', () => {
    const session = started();
    session.close();
    const folder = emptyFolder();
    symlinkSync(session.file!, join(folder, 'link.jsonl'));
    mkdirSync(join(folder, 'folder.jsonl'));
    for (const name of ['link.jsonl', 'folder.jsonl', 'none.jsonl']) {
      expect(() => reopened(join(folder, name))).toThrow(
        expect.objectContaining({ code: 'SESSION_UNUSABLE' }),
      );
    }
  });

  it.skipIf(process.getuid?.() !== 0)('is not made in a folder of somebody else', () => {
    const store = emptyStore();
    mkdirSync(store.folder, { recursive: true });
    chownSync(store.folder, 12345, 12345);
    expect(() => started(store)).toThrow(/somebody else/);
    expect(readdirSync(store.folder)).toEqual([]);
  });

  it('that could not be made can be tried again, with nothing lost', () => {
    const store = emptyStore();
    mkdirSync(dirname(store.folder), { recursive: true });
    writeFileSync(store.folder, '');
    const session = createSession(store, { cwd });
    session.append({ type: 'mode', mode: 'auto' });
    expect(() => session.append(says('lost'))).toThrow();
    expect(session.path()).toHaveLength(1);
    rmSync(store.folder);
    session.append(says('said again'));
    expect(texts(again(session).path())).toEqual(['mode', 'said again']);
  });

  it('of 10,000 entries is read in little more time than its JSON is parsed', () => {
    const session = started();
    const lines: string[] = [];
    for (let at = 0, parent = session.leaf; at < 10_000; at++) {
      const id = `e${at}`;
      const body = at % 2 === 0 ? answers(`answer ${at} ${'word '.repeat(40)}`) : says(`prompt ${at}`);
      lines.push(JSON.stringify({ ...body, id, parent, ts: new Date().toISOString() }));
      parent = id;
    }
    appendFileSync(session.file!, `${lines.join('\n')}\n`);
    session.close();
    const fastest = (work: () => void) =>
      Math.min(
        ...Array.from({ length: 5 }, () => {
          const begun = process.cpuUsage();
          work();
          return processorMs(begun);
        }),
      );
    const parsing = fastest(() => {
      for (const line of readFileSync(session.file!, 'utf8').trim().split('\n')) JSON.parse(line);
    });
    const opening = fastest(() => {
      const opened = reopened(session.file!);
      expect(opened.path()).toHaveLength(10_001);
      opened.close();
    });
    if (process.env['MEASURE']) console.log({ parsing, opening, bytes: statSync(session.file!).size });
    expect(opening).toBeLessThan(parsing * 10 + 100);
  });
});
