import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { forkSession, openOrFork } from '../../../src/repl/session/fork.ts';
import { takeLock } from '../../../src/repl/session/lock.ts';
import { createSession } from '../../../src/repl/session/session.ts';
import { sessionStore } from '../../../src/repl/session/store.ts';
import { unfinishedCalls } from '../../../src/repl/session/unfinished.ts';
import { until } from '../../support/until.ts';
import { answers, calls, emptyFolder, emptyStore, says, reopened, tool } from './support.ts';
import { buildSessionWriter, killed, startWriter } from './writer-program.ts';

let folder: string;
let program: string;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'toolcrib-writer-'));
  program = await buildSessionWriter(folder);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function idIn(line: string): string[] {
  try {
    return [(JSON.parse(line) as { id: string }).id];
  } catch {
    return [];
  }
}

describe('a process that is killed while it writes', () => {
  it('loses no line that was complete, thirty times over', async () => {
    const state = emptyFolder();
    let args = [state];
    let before = 0;
    for (let time = 0; time < 30; time++) {
      const { child, file } = await startWriter(program, args);
      const size = statSync(file).size;
      await until(() => statSync(file).size > size + time * 10_000);
      await killed(child);
      // What was cut in an earlier round was ended by the next one, and is no JSON.
      const complete = readFileSync(file, 'utf8').split('\n').slice(1, -1).flatMap(idIn);
      const session = reopened(file);
      expect(complete.filter((id) => !session.entry(id))).toEqual([]);
      expect(session.path().length).toBeGreaterThan(before);
      before = session.path().length;
      session.close();
      // Killed and opened again five times, then a new one.
      args = time % 5 === 4 ? [state] : [state, file];
      if (time % 5 === 4) before = 0;
    }
  }, 60_000);
});

describe.skipIf(process.platform === 'win32')('a process whose disk is full', () => {
  it('says so, and leaves a session that can go on', () => {
    const state = emptyFolder();
    const ended = spawnSync('sh', ['-c', 'ulimit -f 200; exec "$0" "$@"', process.execPath, program, state]);
    expect(String(ended.stderr)).toMatch(/cannot be written/);
    const file = String(ended.stdout).trim();
    expect(readFileSync(file, 'utf8').endsWith('\n')).toBe(false);
    const session = reopened(file);
    const { length } = session.path();
    expect(length).toBeGreaterThan(2);
    session.append(says('after'));
    session.close();
    const opened = reopened(file);
    expect(opened.path()).toHaveLength(length + 1);
    opened.close();
  });
});

describe('a session that another process has open', () => {
  it('is refused, or copied', async () => {
    const state = emptyFolder();
    const { child, file } = await startWriter(program, [state]);
    try {
      expect(() => reopened(file)).toThrow(/open in another window/);
      const store = sessionStore(state, process.cwd());
      const { session, forked } = openOrFork(store, file);
      expect(forked).toBe(true);
      expect(session.header.parent).toBe(JSON.parse(readFileSync(file, 'utf8').split('\n')[0]!).id);
      session.append(says('mine'));
      expect(session.file).not.toBe(file);
      session.close();
      expect(() => store.remove(file)).toThrow(/open/);
    } finally {
      await killed(child);
    }
    const { session, forked } = openOrFork(sessionStore(state, process.cwd()), file);
    expect(forked).toBe(false);
    session.close();
    expect(existsSync(`${file}.lock`)).toBe(false);
  });

  it('is had by one only of those that find the lock of one that is gone', async () => {
    const state = emptyFolder();
    const { child, file } = await startWriter(program, [state]);
    await killed(child);
    const children = Array.from({ length: 6 }, () =>
      spawn(process.execPath, [program, state, file], { stdio: ['ignore', 'pipe', 'ignore'] }),
    );
    const began = await Promise.all(
      children.map((child) =>
        Promise.race([once(child.stdout, 'data').then(() => true), once(child, 'exit').then(() => false)]),
      ),
    );
    await Promise.all(children.map((child) => (child.exitCode === null ? killed(child) : undefined)));
    expect(began.filter(Boolean)).toHaveLength(1);
  });

  it('keeps its open calls for itself', () => {
    const store = emptyStore();
    const session = createSession(store, { cwd: process.cwd() });
    for (const body of [says('go'), answers('', [calls('a'), calls('b')]), tool('a', 'started')])
      session.append(body);
    const copy = openOrFork(store, session.file!).session;
    expect(unfinishedCalls(copy.path())).toEqual([]);
    const last = { state: 'done', isError: true, text: expect.stringContaining('may or may not have run') };
    expect(copy.path().slice(-2)).toMatchObject([
      { callId: 'a', ...last },
      { callId: 'b', ...last },
    ]);
    expect(unfinishedCalls(session.path())).toHaveLength(2);
    for (const one of [copy, session]) one.close();
  });

  it('is refused by the same process, too', () => {
    const session = createSession(emptyStore(), { cwd: process.cwd() });
    session.append(says('hello'));
    expect(() => reopened(session.file!)).toThrow(/open in another window/);
    session.close();
    reopened(session.file!).close();
  });
});

describe('a lock', () => {
  const file = () => join(emptyFolder(), 'a.jsonl');
  const gone = () => String(spawnSync(process.execPath, ['-p', 'process.pid']).stdout).trim();

  it('of a process that is gone is taken over', () => {
    const path = file();
    writeFileSync(`${path}.lock`, `${gone()} 1\n`);
    const lock = takeLock(path);
    expect(lock).toBeDefined();
    expect(takeLock(path)).toBeUndefined();
    lock!.release();
    expect(existsSync(`${path}.lock`)).toBe(false);
  });

  it.runIf(process.platform === 'linux')('of a process whose number was given away is taken over', () => {
    const path = file();
    writeFileSync(`${path}.lock`, `${process.pid} 1\n`);
    expect(takeLock(path)).toBeDefined();
  });

  it('from before the machine was started is taken over', () => {
    const path = file();
    expect(takeLock(path)).toBeDefined();
    utimesSync(`${path}.lock`, 1, 1);
    expect(takeLock(path)).toBeDefined();
  });

  it('that is being written is respected, and taken over when that took too long', () => {
    const path = file();
    writeFileSync(`${path}.lock`, '');
    expect(takeLock(path)).toBeUndefined();
    utimesSync(`${path}.lock`, Date.now() / 1000 - 60, Date.now() / 1000 - 60);
    expect(takeLock(path)).toBeDefined();
  });

  it('that somebody else took over is not released', () => {
    const path = file();
    const lock = takeLock(path);
    writeFileSync(`${path}.lock`, '1 1\n');
    lock!.release();
    expect(existsSync(`${path}.lock`)).toBe(true);
  });
});

it('forks nothing into the session it came from', () => {
  const store = emptyStore();
  const session = createSession(store, { cwd: process.cwd() });
  session.append(says('one'));
  const { size } = statSync(session.file!);
  const fork = forkSession(store, session);
  fork.append(says('two'));
  expect(statSync(session.file!).size).toBe(size);
  expect(fork.path()).toHaveLength(2);
});
