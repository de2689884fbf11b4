import { readFileSync, writeFileSync } from 'node:fs';
import { freemem, totalmem } from 'node:os';
import { runMarker } from './child.ts';
import { linuxFamily } from './process-tree.ts';

/** A program that fills a gigabyte a second has not filled much more by then. */
const lookMs = 500;
/** Looking closely takes no more than this part of the time while memory in use grows. */
const mostOfTime = 1 / 20;
/** It is done this often all the same: what others free meanwhile hides what a program fills. */
const closeLookMs = 5000;

/** Memory of a program and all it has started, in bytes: more than it may hold. */
export interface Excess {
  readonly held: number;
  readonly most: number;
}

export interface MemoryLimit {
  /** Calls back when the program holds too much. */
  watch(pid: number, onExcess: (excess: Excess) => void): void;
  forget(pid: number): void;
}

/**
 * Finds programs that hold more than `percent` of the memory of this computer, or of the container that we
 * run in, with all that they have started; or an eighth of it when there is less than a thirty-second left.
 * Memory that is mapped and not used does not count, as Node, Java, Go and sanitizers map far more than they
 * use; what processes share counts once. Only Linux tells. `running`: the programs, by their marks.
 */
export function createMemoryLimit(running: ReadonlyMap<string, number>, percent: number): MemoryLimit {
  const watched = new Map<number, (excess: Excess) => void>();
  let nextLook: NodeJS.Timeout | undefined;
  /**
   * The least that was in use since programs run: they hold what has come since, where others free nothing.
   */
  let leastUsed = Infinity;
  let nextCloseLook = 0;

  function look(): void {
    const startedAt = performance.now();
    const { total, free } = memory();
    const most = total * (percent / 100);
    leastUsed = Math.min(leastUsed, total - free);
    const isScarce = free < total / 32;
    // Half of it, as others may have freed the rest. Nearly always that is all there is to do.
    const isClose = isScarce || total - free - leastUsed > most / 2 || startedAt > nextCloseLook;
    if (isClose)
      for (const { pid, held } of holders(isScarce ? Math.min(most, total / 8) : most).slice(0, 1))
        watched.get(pid)?.({ held, most });
    const tookMs = performance.now() - startedAt;
    if (isClose) nextCloseLook = startedAt + Math.max(closeLookMs, (tookMs / mostOfTime) * 5);
    nextLook = setTimeout(look, Math.max(lookMs, tookMs / mostOfTime)).unref();
  }

  /** The programs that hold more than that, the largest first. */
  const holders = (most: number) =>
    [...running]
      .filter(([, pid]) => watched.has(pid))
      .map(([mark, pid]) => ({ pid, held: heldBy(mark, pid, most) }))
      .filter(({ held }) => held > 0)
      .toSorted((one, other) => other.held - one.held);

  return {
    watch(pid, onExcess) {
      if (process.platform !== 'linux') return;
      try {
        // Where memory ends before we look, the kernel ends this program, and not the person's browser.
        writeFileSync(`/proc/${pid}/oom_score_adj`, '500');
      } catch {
        // It has ended already.
      }
      watched.set(pid, onExcess);
      if (nextLook) return;
      nextLook = setTimeout(look, lookMs).unref();
      nextCloseLook = performance.now() + closeLookMs;
    },
    forget(pid) {
      watched.delete(pid);
      if (watched.size > 0) return;
      clearTimeout(nextLook);
      nextLook = undefined;
      leastUsed = Infinity;
    },
  };
}

/** All memory, and the part of it that is left: files that are cached are as good as free. */
function memory() {
  const limit = process.constrainedMemory();
  const isLimited = limit > 0 && limit < totalmem();
  return isLimited
    ? { total: limit, free: Math.min(freemem(), process.availableMemory()) }
    : { total: totalmem(), free: freemem() };
}

/** Memory that a program and all it has started hold, where that is more than `most`; else 0. */
function heldBy(mark: string, pid: number, most: number): number {
  try {
    const marks = [`${runMarker}=${mark}`];
    const pids = [...linuxFamily({ marks, groups: [pid], known: new Map() }).keys()];
    const sum = (held: (one: number) => number) => pids.reduce((all, one) => all + held(one), 0);
    // What is shared counts several times in the first, which is a fast look.
    const held = sum(residentIn) > most ? sum(shareOf) : 0;
    return held > most ? held : 0;
  } catch {
    // Too many open files: the next look tells.
    return 0;
  }
}

const residentIn = (pid: number): number => kilobytes(`/proc/${pid}/status`, /^Rss(?:Anon|Shmem):/);

/** Its part of what it shares, and what it has in the swap. */
const shareOf = (pid: number): number =>
  kilobytes(`/proc/${pid}/smaps_rollup`, /^(?:Pss_Anon|Pss_Shmem|SwapPss):/) || residentIn(pid);

function kilobytes(file: string, wanted: RegExp): number {
  let text: string;
  try {
    text = readFileSync(file, 'latin1');
  } catch {
    // It has ended meanwhile, or is another user's.
    return 0;
  }
  const lines = text.split('\n').filter((line) => wanted.test(line));
  return lines.reduce((all, line) => all + Number(/\d+/.exec(line)?.[0] ?? 0) * 1024, 0);
}
