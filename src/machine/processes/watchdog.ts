import type { Writable } from 'node:stream';
import { endFamily, linuxFamily, listedFamily } from './process-tree.ts';

/** Most programs have ended by then, and would only pay for a process that watches them. */
const shortMs = 100;
/** The time it stays when nothing runs. */
const idleMs = 60_000;
/**
 * Time until another one is started, when it was killed or could not be started for want of files or memory.
 */
const againMs = 1000;

export interface Watchdog {
  /** Tells it soon that other programs run, or at once. */
  update(atOnce?: boolean): void;
}

/**
 * Ends programs and all they started when this process dies, however it does: by a process of its own
 * (`node`, 6 MB that it shares with nobody), started when a program has been running for a moment. It holds
 * the end of a pipe of ours: the system closes that when we die, and there is nothing we have to do.
 * `running`: the ids of programs by the mark that is the value of `variable` in their environment; 0 for one
 * about to be started.
 */
export function createWatchdog(variable: string, running: ReadonlyMap<string, number>): Watchdog {
  /** The input of the process beside us. */
  let beside: Writable | undefined;
  let nextTell: NodeJS.Timeout | undefined;
  let end: NodeJS.Timeout | undefined;

  function tell(): void {
    clearTimeout(nextTell);
    nextTell = undefined;
    if (running.size === 0 && !beside) return;
    const line = [...running].map(([mark, pid]) => `${mark} ${pid} `).join('');
    if (beside) {
      beside.write(`${line}\n`);
      return;
    }
    const started = startBeside(`${variable} ${line}`, () => {
      if (beside !== started) return;
      beside = undefined;
      nextTell ??= setTimeout(tell, againMs).unref();
    });
    beside = started;
    if (!started) nextTell ??= setTimeout(tell, againMs).unref();
  }

  return {
    update(atOnce = false) {
      clearTimeout(end);
      if (atOnce) tell();
      else if (running.size > 0 || beside) nextTell ??= setTimeout(tell, shortMs).unref();
      if (running.size > 0 || !beside) return;
      end = setTimeout(() => {
        const idle = beside;
        beside = undefined;
        idle?.end();
      }, idleMs).unref();
    },
  };
}

/**
 * Starts the watchdog in a session and a folder of its own, and tells it what is to be known `first`. It does
 * not keep us alive, and ends when its input does, which is returned. `onEnd` is called when it has ended.
 * Undefined when it could not be started, as with too many open files.
 */
function startBeside(first: string, onEnd: () => void): Writable | undefined {
  const { spawn } = process.getBuiltinModule('node:child_process');
  const { SystemRoot, ELECTRON_RUN_AS_NODE } = process.env;
  const script = `(${watch})(${endFamily}, ${process.platform === 'linux' ? linuxFamily : listedFamily})`;
  const child = spawn(process.execPath, ['--max-semi-space-size=1', '-e', script], {
    cwd: SystemRoot ?? '/',
    // Node leaves out what is undefined.
    env: { WATCHED: first, SystemRoot, ELECTRON_RUN_AS_NODE },
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
 * Runs in the watchdog: it reads which programs are running, and ends them when nothing more can come,
 * because the server is gone. Its text is run, so it uses nothing but Node and its parameters.
 *
 * The variable WATCHED has the name of the mark, and the programs that run already: it knows of them though
 * the server dies while it starts. Each line of its input has those that run by then, as `mark pid mark pid`;
 * 0 for one that is about to.
 */
function watch(end: typeof endFamily, find: typeof linuxFamily): void {
  const [variable, ...first] = (process.env['WATCHED'] ?? '').split(' ');
  let words = first;
  let rest = '';
  let isEnding = false;
  const endAll = () => {
    if (isEnding) return;
    isEnding = true;
    const marks = words.filter((word) => word.includes('-')).map((mark) => `${variable}=${mark}`);
    if (marks.length === 0) process.exit();
    const groups = words.map(Number).filter((pid) => pid > 1);
    // A program that was just being started when the server died has no mark yet.
    void end(find, { marks, groups }, { leastLooks: 5, mostMs: 5000 }).finally(() => process.exit());
  };
  // Whoever ends the server by its group or by a signal to all must not end this first.
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(name, () => undefined);
  process.stdin.setEncoding('utf8');
  process.stdin.on('data', (text: string) => {
    const lines = (rest + text).split('\n');
    rest = lines.pop() ?? '';
    words = lines.at(-1)?.split(' ') ?? words;
  });
  process.stdin.once('end', endAll).once('error', endAll).once('close', endAll);
}
