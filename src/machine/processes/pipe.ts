import type { Readable, Writable } from 'node:stream';
import type { OutputSink, ProgramInput } from '../../core/tool.ts';
import { lastLineOf } from '../output.ts';
import type { Child } from './child.ts';

/** A program, and what it is given. */
export interface Stage {
  /** Absolute path: a bare name would be looked up again, perhaps in the working directory. */
  readonly program: string;
  readonly argv: readonly string[];
  /** The child's whole environment: nothing is inherited. */
  readonly env: Readonly<Record<string, string>>;
  /** In a pipe, the next program reads its standard error as well. */
  readonly joinsErrors?: boolean;
}

export interface PipeCommand extends Stage {
  /** Each reads what the one before it prints. */
  readonly pipe?: readonly Stage[];
  /** How long it may take, 45 s when left out. */
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
  /** Gets every chunk of both streams, whatever else is done with it. */
  readonly sink?: OutputSink | undefined;
  /** Gets the program's input, which then stays open; left out: it is empty, and who reads it is told its end. */
  readonly takeInput?: ((input: ProgramInput) => void) | undefined;
  /** Called with the last whole line of what has just come, blank ones left out. */
  readonly onLine?: (line: string) => void;
  /** Called with each piece of standard output; none is then kept. False: no more is read. Must not throw. */
  readonly onOutput?: (chunk: Buffer) => boolean;
}

/** How a program ended. */
interface End {
  readonly how: 'exited' | 'timed_out' | 'cancelled' | 'out_of_memory';
  readonly exitCode: number | null;
}

/** How long a call may take: clients give up at 60 s. */
const callBudgetMs = 45_000;
/** How long output may still arrive after the program has ended, when a child of it keeps the pipe open. */
const drainMs = 200;
/** How long a program may go on that has nothing more to say, when the one that read it has ended. */
const unreadMs = 1000;
/** As much as may wait to be read by a program, bytes. */
const mostInput = 1024 * 1024;

type Add = (chunk: Buffer) => void;

/**
 * Connects programs, hands on what the pipe prints, and gives its input to who wants it. Returns the programs whose
 * output nobody reads any more: a set that grows.
 */
export function listen(
  children: readonly Child[],
  { onLine, onOutput, sink, takeInput, pipe = [], joinsErrors }: PipeCommand,
  keepOutput: Add,
  keepErrors: Add,
): Set<Child> {
  const unread = new Set<Child>();
  const joins = [joinsErrors, ...pipe.map((stage) => stage.joinsErrors)];
  for (const [at, child] of children.entries()) {
    const next = children[at + 1];
    const isJoined = next !== undefined && joins[at] === true;
    if (next) connect(child, isJoined ? [child.stdout, child.stderr] : [child.stdout], next, unread);
    else
      hear(child, 'stdout', (chunk) => {
        if (!onOutput) keepOutput(chunk);
        else if (!onOutput(chunk)) child.stdout.destroy();
      });
    if (!isJoined) hear(child, 'stderr', keepErrors);
  }
  function hear(child: Child, name: 'stdout' | 'stderr', keep: Add): void {
    const lastLine = onLine && lastLineOf(onLine);
    child[name].on('data', (chunk: Buffer) => {
      // That its reader has gone is no news.
      if (unread.has(child)) return;
      sink?.add(name, chunk);
      lastLine?.(chunk);
      keep(chunk);
    });
  }
  if (children[0]?.stdin) takeInput?.(inputOf(children[0].stdin));
  return unread;
}

function inputOf(stdin: Writable): ProgramInput {
  // EPIPE: the program has ended, or closed its input.
  stdin.on('error', () => stdin.destroy());
  return {
    write(text) {
      if (!stdin.writable || stdin.writableLength + text.length > mostInput) return false;
      stdin.write(text);
      return true;
    },
    end: () => void stdin.end(),
  };
}

/** Lets a program read what another prints, whose pipe is closed when it writes on after the reader has ended. */
function connect(from: Child, sources: readonly Readable[], to: Child, unread: Set<Child>): void {
  const { stdin } = to;
  if (!stdin) return;
  let open = sources.length;
  const isUnread = () => {
    unread.add(from);
    // Streams of Node are sockets: what is not read of one is told to the writer as a broken connection.
    if (process.platform !== 'win32') from.kill('SIGPIPE');
    for (const source of sources) source.destroy();
  };
  for (const source of sources) {
    source.pipe(stdin, { end: false }).once('error', isUnread);
    source.once('close', () => {
      if (--open === 0) stdin.end();
    });
    to.once('exit', () => source.unpipe(stdin).once('data', isUnread));
  }
}

interface Ending {
  /** Ends programs and everything they started. */
  end(children: readonly Child[]): Promise<void>;
  /** Called with each that has ended. */
  gone(child: Child): void;
  /**
   * Called with each when it begins to be waited for; `stop` is called back when it holds too much memory.
   */
  limited(child: Child, stop: () => void): void;
}

/**
 * Waits until all programs of a pipe have ended by themselves, at its time limit, or when the caller gives up. One that
 * nobody reads any more is ended soon, and has not failed: the pipe fails with the last of the others that did.
 */
export async function endOfPipe(
  children: readonly Child[],
  { timeoutMs = callBudgetMs, signal }: PipeCommand,
  unread: Set<Child>,
  { end, gone, limited }: Ending,
): Promise<End & { readonly stage: number }> {
  const left = new Set(children);
  let how: End['how'] = 'exited';
  let halt = () => {};
  const halted = new Promise<void>((resolve) => (halt = resolve));
  const stopFor = (why: typeof how) => {
    if (how !== 'exited') return;
    how = why;
    void end([...left]).then(halt);
  };
  const cancel = () => stopFor('cancelled');
  const timer = setTimeout(stopFor, timeoutMs, 'timed_out');
  signal?.addEventListener('abort', cancel, { once: true });
  // It may have come while the programs were started: then nobody calls.
  if (signal?.aborted) cancel();
  const ends = children.map(async (child, at) => {
    limited(child, () => stopFor('out_of_memory'));
    await Promise.race([closed(child, at === children.length - 1), halted]);
    if (how !== 'exited') await halted;
    left.delete(child);
    gone(child);
    const before = children[at - 1];
    if (before && left.has(before)) endSoon(before);
  });
  function endSoon(child: Child): void {
    const late = setTimeout(() => {
      unread.add(child);
      void end([child]);
    }, unreadMs);
    child.once('close', () => clearTimeout(late));
  }
  await Promise.all(ends);
  clearTimeout(timer);
  signal?.removeEventListener('abort', cancel);
  const stage = children.findLastIndex((child) => child.exitCode !== 0 && !unread.has(child));
  const exitCode = stage < 0 ? 0 : (children[stage]?.exitCode ?? null);
  return { how, stage: Math.max(0, stage), exitCode };
}

/** Until it has ended and printed all. Behind the last of a pipe nobody waits for what its children may print. */
const closed = (child: Child, isLast: boolean) =>
  new Promise<void>((resolve) => {
    child.once('close', resolve);
    // A busy process comes to its timers before it looks at the pipes again: what is in them by then is read first.
    const drained = () => void setTimeout(() => setImmediate(resolve), drainMs).unref();
    if (isLast) child.once('exit', drained);
  });
