import type { Platform } from '../../core/discoverer.ts';
import { linuxFamily } from './process-family.ts';
import { runMarker, startBeside, type Beside } from './process-tree.ts';
import { watch } from './watchdog-program.ts';

/** Knows which programs are running, and ends them and all they started when this process dies, however it does. */
export interface Watchdog {
  /** A program is about to be started with this mark. `lasts`: it is watched from then on, and not only when it has run for a moment. */
  starts(mark: string, lasts?: boolean): void;
  /** It runs. */
  runs(mark: string, pid: number): void;
  ended(mark: string): void;
}

/** Most programs have ended by then, and would only pay for a process that watches them. */
const shortMs = 100;
/** How long it stays when nothing runs: the next program is then watched from its first moment. */
const idleMs = 60_000;
/** When it could not be started, for want of open files or memory, that is tried again as long as programs run. */
const againMs = 1000;
/** A watchdog that was killed is replaced, but not for ever. */
const mostReplaced = 20;

/**
 * A watchdog that is a process of its own (`node`, 6 MB that it shares with nobody), started when a program has been running for a moment. It
 * holds the end of a pipe of ours: the system closes that when we die, and there is nothing we have to do for it.
 */
export function createWatchdog(platform: Platform, start: typeof startBeside = startBeside): Watchdog {
  const running = new Map<string, number>();
  let beside: Beside | undefined;
  let replaced = 0;
  let waking: NodeJS.Timeout | undefined;
  let sleeping: NodeJS.Timeout | undefined;

  function wake(): void {
    clearTimeout(waking);
    waking = undefined;
    if (beside || running.size === 0 || replaced >= mostReplaced) return;
    const lines = [...running].map(([mark, pid]) => `= ${mark} ${pid}`);
    const started = start(
      `(${watch.toString()})(${linuxFamily.toString()})`,
      { FIRST: [`${platform} ${runMarker}`, ...lines].join('\n') },
      () => {
        if (beside !== started) return;
        beside = undefined;
        replaced++;
        wake();
      },
    );
    beside = started;
    if (!started) waking = setTimeout(wake, againMs).unref();
  }

  return {
    starts(mark, lasts = false) {
      clearTimeout(sleeping);
      sleeping = undefined;
      running.set(mark, 0);
      if (beside) beside.tell(`+ ${mark}\n`);
      else if (lasts) wake();
      else waking ??= setTimeout(wake, shortMs).unref();
    },
    runs(mark, pid) {
      running.set(mark, pid);
      beside?.tell(`= ${mark} ${pid}\n`);
    },
    ended(mark) {
      running.delete(mark);
      beside?.tell(`- ${mark}\n`);
      if (running.size > 0) return;
      clearTimeout(waking);
      waking = undefined;
      if (!beside) return;
      sleeping = setTimeout(() => {
        const idle = beside;
        beside = undefined;
        idle?.leave();
      }, idleMs).unref();
    },
  };
}
