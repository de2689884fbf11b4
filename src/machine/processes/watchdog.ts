import type { Writable } from 'node:stream';
import { endFamily, linuxFamily, listedFamily } from './process-tree.ts';

/** Knows which programs are running, and ends them and all they started when this process dies, however it does. */
export interface Watchdog {
  /** A program is about to be started with this mark. `lasts`: it is watched from then on, not a moment later. */
  starts(mark: string, lasts?: boolean): void;
  /** It runs. */
  runs(mark: string, pid: number): void;
  ended(mark: string): void;
}

/** Most programs have ended by then, and would only pay for a process that watches them. */
const shortMs = 100;
/** How long it stays when nothing runs. */
const idleMs = 60_000;
/** When it could not be started, for want of open files or memory, or was killed, there is soon another one. */
const againMs = 1000;

/**
 * A watchdog that is a process of its own (`node`, 6 MB that it shares with nobody), started when a program has been
 * running for a moment. It holds the end of a pipe of ours: the system closes that when we die, and there is nothing
 * we have to do.
 */
export function createWatchdog(variable: string): Watchdog {
  const running = new Map<string, number>();
  /** Those that the watchdog knows of: what ends at once costs it nothing. */
  const told = new Set<string>();
  let beside: Writable | undefined;
  let waking: NodeJS.Timeout | undefined;
  let sleeping: NodeJS.Timeout | undefined;

  function tellAll(): void {
    clearTimeout(waking);
    waking = undefined;
    if (running.size === 0) return;
    const lines = [...running].map(([mark, pid]) => `= ${mark} ${pid}\n`).join('');
    for (const mark of running.keys()) told.add(mark);
    if (beside) return void beside.write(lines);
    const started = startBeside(`${variable}\n${lines}`, () => {
      if (beside !== started) return;
      beside = undefined;
      tellLater(againMs);
    });
    beside = started;
    if (!started) tellLater(againMs);
  }
  const tellLater = (afterMs: number) => (waking ??= setTimeout(tellAll, afterMs).unref());

  return {
    starts(mark, lasts = false) {
      clearTimeout(sleeping);
      running.set(mark, 0);
      if (lasts) tellAll();
      else tellLater(shortMs);
    },
    runs(mark, pid) {
      running.set(mark, pid);
      if (told.has(mark)) beside?.write(`= ${mark} ${pid}\n`);
    },
    ended(mark) {
      running.delete(mark);
      if (told.delete(mark)) beside?.write(`- ${mark}\n`);
      if (running.size > 0 || !beside) return;
      sleeping = setTimeout(() => {
        const idle = beside;
        beside = undefined;
        idle?.end();
      }, idleMs).unref();
    },
  };
}

/**
 * Starts the watchdog in a session and a folder of its own, and tells it what is to be known `first`. It does not keep
 * us alive, and ends when its input does, which is returned. `onEnd` is called when it has ended. Undefined when it
 * could not be started, as with too many open files.
 */
function startBeside(first: string, onEnd: () => void): Writable | undefined {
  const { spawn } = process.getBuiltinModule('node:child_process');
  const { SystemRoot, ELECTRON_RUN_AS_NODE } = process.env;
  const script = `(${watch})(${endFamily}, ${process.platform === 'linux' ? linuxFamily : listedFamily})`;
  const child = spawn(process.execPath, ['--max-semi-space-size=1', '-e', script], {
    cwd: SystemRoot ?? '/',
    // Node leaves out what is undefined.
    env: { FIRST: first, SystemRoot, ELECTRON_RUN_AS_NODE },
    detached: true,
    windowsHide: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  child.once('error', () => undefined).once('exit', onEnd);
  // With too many open files there is not even an input.
  const { stdin } = child as Partial<typeof child>;
  if (child.pid === undefined || !stdin) return undefined;
  child.unref();
  // EPIPE, or a write after the end, when it was killed; that it has ended is said by its exit.
  stdin.on('error', () => undefined);
  // A pipe is a socket here.
  if ('unref' in stdin && typeof stdin.unref === 'function') stdin.unref();
  return stdin;
}

/**
 * What the watchdog does: it reads which programs are running, and ends them when nothing more can come, because the
 * server is gone. Its text is run, so it uses nothing but Node and its parameters.
 *
 * The variable FIRST has the name of the mark, and what runs already: it knows of that though the server dies while it
 * starts. The rest comes by its input, line by line: `= mark pid` says that a program runs (0: that it is about to),
 * `- mark` that it has ended.
 */
function watch(end: typeof endFamily, find: typeof linuxFamily): void {
  const running = new Map<string, number>();
  const [variable, ...first] = (process.env['FIRST'] ?? '').trim().split('\n');
  let rest = '';
  let isEnding = false;
  const take = (line: string) => {
    const [kind, mark = '', pid] = line.split(' ');
    if (kind === '-') running.delete(mark);
    else running.set(mark, Number(pid));
  };
  const endAll = () => {
    if (isEnding) return;
    isEnding = true;
    if (running.size === 0) process.exit();
    const marks = [...running.keys()].map((mark) => `${variable}=${mark}`);
    const groups = [...running.values()].filter((pid) => pid > 1);
    // A program that was just being started when the server died has no mark yet.
    void end(find, { marks, groups }, { leastLooks: 5, mostMs: 5000 }).finally(() => process.exit());
  };
  // Whoever ends the server by its group or by a signal to all must not end this first.
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(name, () => undefined);
  for (const line of first) take(line);
  process.stdin.setEncoding('utf8');
  process.stdin.on('data', (text: string) => {
    const lines = (rest + text).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) take(line);
  });
  process.stdin.once('end', endAll).once('error', endAll).once('close', endAll);
}
