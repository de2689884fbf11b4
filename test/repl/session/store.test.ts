import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { createSession, type Session } from '../../../src/repl/session/session.ts';
import { sessionStore, type Store } from '../../../src/repl/session/store.ts';
import { answers, emptyFolder, emptyStore, says, reopened } from './support.ts';

let clock = 1_000_000;
/** A session that is closed, and newer than those made before it. */
function kept(
  store: Store,
  first: string,
  more: (session: Session) => void = () => {},
  temporary = false,
): Session {
  const session = createSession(store, { cwd: process.cwd(), temporary });
  session.append(says(first));
  more(session);
  session.close();
  utimesSync(session.file!, ++clock, clock);
  return session;
}

it('lists what was said first, the newest first', () => {
  const store = emptyStore();
  const old = kept(store, 'old\nsecond line');
  const named = kept(store, 'new', (session) =>
    session.append({ type: 'name', name: 'my name', by: 'person' }),
  );
  expect(store.list()).toMatchObject([
    { id: named.id, name: 'my name', file: named.file },
    { id: old.id, name: 'old' },
  ]);
  expect(store.latest()?.id).toBe(named.id);
});

it('lists nothing where there is nothing', () => {
  const store = emptyStore();
  expect([store.list(), store.listAll(), store.latest(), store.find('a'), store.removeExpired(0)]).toEqual([
    [],
    [],
    undefined,
    undefined,
    0,
  ]);
});

it('takes what was typed rather than what it became, and cuts a long line between characters', () => {
  const store = emptyStore();
  const session = createSession(store, { cwd: '/' });
  session.append({
    ...(says('the contents of a file') as { type: 'user'; content: [] }),
    typed: `${'x'.repeat(98)}😀😀`,
  });
  expect(store.list()[0]?.name).toBe(`${'x'.repeat(98)}…`);
});

it('finds the name of a session however much was said since', () => {
  const store = emptyStore();
  kept(store, 'a'.repeat(200_000), (session) => {
    session.append({ type: 'name', name: 'early', by: 'model' });
    for (let at = 0; at < 300; at++) session.append(answers(`${at} ${'x'.repeat(1000)}`));
    session.append(says('y'.repeat(300_000)));
  });
  const [info] = store.list();
  expect(info?.name).toBe('early');
});

it('finds the name of a session that was opened again', () => {
  const store = emptyStore();
  const session = kept(store, 'a', (session) => session.append({ type: 'name', name: 'early', by: 'model' }));
  for (let time = 0; time < 3; time++) {
    const opened = reopened(session.file!);
    expect(opened.name).toBe('early');
    for (let at = 0; at < 30; at++) opened.append(answers('x'.repeat(1000)));
    opened.close();
  }
  expect(store.list()[0]?.name).toBe('early');
});

it('lists damaged files as damaged, and never fails', () => {
  const store = emptyStore();
  kept(store, 'well');
  for (const [name, text] of [
    ['a_1.jsonl', ''],
    ['b_2.jsonl', '{"v":2,"type":"session"}\n'],
    ['c_3.jsonl', '\0\xff\n{"'],
    ['d_4.jsonl', '{"v":1,"type":"session","id":"4","cwd":"/","created":"x"}\n{"type":"user","content":3}\n'],
  ] as const) {
    writeFileSync(join(store.folder, name), text);
    utimesSync(join(store.folder, name), ++clock, clock);
  }
  mkdirSync(join(store.folder, 'folder.jsonl'));
  symlinkSync('nowhere', join(store.folder, 'link.jsonl'));
  const damaged = store.list().map(({ id, damaged }) => [id, damaged !== undefined]);
  expect(damaged.slice(0, 4)).toEqual([
    ['4', false],
    ['3', true],
    ['2', true],
    ['1', true],
  ]);
  expect(damaged).toHaveLength(5);
  expect(store.latest()?.id).toBe('4');
});

it('has the same sessions for two paths to one folder, and others for another of that name', () => {
  const state = emptyFolder();
  const [one, two] = [join(emptyFolder(), 'same name!'), join(emptyFolder(), 'same name!')];
  mkdirSync(one);
  mkdirSync(two);
  const link = join(emptyFolder(), 'link');
  symlinkSync(one, link);
  const folders = [one, link, two].map((cwd) => sessionStore(state, cwd).folder);
  expect(folders[0]).toBe(folders[1]);
  expect(folders[0]).not.toBe(folders[2]);
  expect(folders[0]).toMatch(/sessions[\\/]same-name--[0-9a-f]{8}$/);
});

it('finds by id, name and the beginning of either, in this project before others', () => {
  const store = emptyStore();
  const other = sessionStore(dirname(dirname(store.folder)), emptyFolder());
  const there = kept(other, 'Elsewhere');
  const one = kept(store, 'Fix the build');
  const two = kept(store, 'Fix the tests');
  expect(store.find(one.id)?.id).toBe(one.id);
  expect(store.find(two.file!)?.id).toBe(two.id);
  expect(store.find(two.id.slice(0, 7))?.id).toBe(two.id);
  expect(store.find('fix THE build')?.id).toBe(one.id);
  expect(store.find('fix the t')?.id).toBe(two.id);
  expect(store.find('elsewhere')?.id).toBe(there.id);
  expect(store.find('nothing')).toBeUndefined();
  expect(() => store.find('fix')).toThrow(expect.objectContaining({ code: 'USAGE' }));
  expect(store.listAll().map(({ id }) => id)).toEqual([two.id, one.id, there.id]);
  expect(store.list()).toHaveLength(2);
});

it('removes a session that is closed, and nothing else', () => {
  const store = emptyStore();
  const session = kept(store, 'a');
  const outside = join(emptyFolder(), 'x.jsonl');
  writeFileSync(outside, '');
  for (const path of [
    outside,
    join(store.folder, '..', '..', 'x.jsonl'),
    store.folder,
    join(store.folder, 'x'),
  ]) {
    expect(() => store.remove(path)).toThrow(/no session of ours/);
  }
  const open = reopened(session.file!);
  expect(() => store.remove(session.file!)).toThrow(/open/);
  open.close();
  store.remove(session.file!);
  expect(readdirSync(store.folder)).toEqual([]);
  expect(existsSync(outside)).toBe(true);
});

it('removes temporary sessions that were not used for 48 hours, of all projects', () => {
  const store = emptyStore();
  const other = sessionStore(dirname(dirname(store.folder)), emptyFolder());
  const lasting = kept(store, 'lasting');
  kept(store, 'temporary', undefined, true);
  kept(other, 'temporary', undefined, true);
  const open = reopened(kept(store, 'open', undefined, true).file!);
  const used = kept(store, 'used', undefined, true);
  const now = clock * 1000 + 49 * 3_600_000;
  utimesSync(used.file!, now / 1000 - 3600, now / 1000 - 3600);
  expect(store.removeExpired(now)).toBe(2);
  expect(
    store
      .listAll()
      .map(({ id }) => id)
      .toSorted(),
  ).toEqual([lasting.id, open.id, used.id].toSorted());
  open.close();
});

it('is not led astray by a name in what was said', () => {
  const store = emptyStore();
  const session = kept(store, '{"type":"name","name":"wrong"}');
  appendFileSync(session.file!, '{"type":"name","name":3,"id":"a","parent":null,"ts":""}\n');
  expect(store.list()[0]?.name).toBe('{"type":"name","name":"wrong"}');
});
