import { randomBytes } from 'node:crypto';
import { ToolcribError } from '../../core/errors.ts';
import type { Budgets } from '../../core/settings.ts';
import type { OutputSink } from '../../core/tool.ts';
import { blockBytes, type Block } from './block.ts';
import { KeptOutput, type Rooms } from './kept-output.ts';
import { createStoredOutput, type StoredOutput } from './stored-output.ts';
import { openSpool, type Spool } from './spool.ts';

/** What programs printed, whole, by handle. */
export interface OutputStore {
  /** Begins to keep what a program prints. `owner` is who may read it, `about` what it is, such as the command line. */
  open(owner: string, about: string): OutputSink;
  /** Throws NOT_FOUND, which says the same of what never was, is forgotten, or belongs to another. */
  find(owner: string, handle: string): StoredOutput;
  /** Forgets everything, and removes what is on disk. */
  close(): void;
}

export interface OutputStoreOptions {
  /** The cache folder, in which large outputs are put; without one, less is kept, in memory. */
  readonly folder: string | undefined;
  readonly budgets: Pick<Budgets, 'outputMegabytes' | 'outputHours'>;
}

const blocksPerMegabyte = (1024 * 1024) / blockBytes;
/** Of one output: 64 MB, which is a long build's log ten times over; 1 MB where it has to stay in memory. */
const mostBlocks = { onDisk: 64 * blocksPerMegabyte, inMemory: blocksPerMegabyte };
/** Of all outputs where they have to stay in memory: 32 MB. */
const mostInMemory = 32 * blocksPerMegabyte;
/** Outputs of all owners, most of which are some hundred bytes. */
const mostOutputs = 2000;
const sweepMs = 60_000;

/** Keeps outputs for as long as this process lives. Opens its file when the first large output comes. */
export function createOutputStore({ folder, budgets }: OutputStoreOptions): OutputStore {
  const outputs = new Map<string, KeptOutput>();
  const quota = Math.max(8, Math.floor(budgets.outputMegabytes * blocksPerMegabyte));
  const lifeMs = budgets.outputHours * 60 * 60 * 1000;
  const slots = createSlots();
  let spool: Spool | undefined;
  let wasOpened = false;
  let isClosed = false;
  let sweptAt = Date.now();

  const onDisk = (): Spool | undefined => {
    if (!wasOpened && folder !== undefined) spool = openSpool(folder);
    wasOpened = true;
    return spool;
  };

  const rooms: Rooms = {
    get mostBlocks() {
      return Math.min(onDisk() ? mostBlocks.onDisk : mostBlocks.inMemory, Math.ceil(quota / 2));
    },
    put(bytes) {
      if (isClosed) return undefined;
      const disk = onDisk();
      const most = disk ? quota : Math.min(quota, mostInMemory);
      while (slots.taken >= most) if (!makeRoom(outputs, forget)) return undefined;
      const slot = slots.take();
      if (!disk) return bytes;
      try {
        disk.write(slot, bytes);
        return slot;
      } catch {
        // A full disk: the program must not be stopped by it, and what is missing is said to who reads.
        slots.free(slot);
        return undefined;
      }
    },
    free(place) {
      slots.free(typeof place === 'number' ? place : undefined);
      if (slots.taken === 0) spool?.empty();
    },
  };

  function forget(output: KeptOutput): void {
    outputs.delete(output.handle);
    output.drop();
  }

  const isExpired = ({ endedAt }: KeptOutput, now: number) => endedAt !== undefined && now - endedAt > lifeMs;

  function forgetOld(): void {
    const now = Date.now();
    if (now - sweptAt > Math.min(sweepMs, lifeMs)) {
      sweptAt = now;
      for (const output of outputs.values()) if (isExpired(output, now)) forget(output);
    }
    if (outputs.size >= mostOutputs) forgetSome(outputs, forget);
  }

  const bytesOf = ({ place, length }: Block): Buffer | undefined => {
    if (typeof place !== 'number') return place === 'dropped' ? undefined : place;
    try {
      return spool?.read(place, length);
    } catch {
      // A failing disk: what cannot be read is missing.
      return undefined;
    }
  };

  return {
    open(owner, about) {
      forgetOld();
      const output = new KeptOutput(newHandle(), owner, about, rooms);
      if (isClosed) output.end();
      else outputs.set(output.handle, output);
      return output;
    },
    find(owner, handle) {
      const output = outputs.get(handle);
      if (!output || output.owner !== owner || isExpired(output, Date.now())) throw unknownOutput();
      return createStoredOutput(output, bytesOf);
    },
    close() {
      isClosed = true;
      for (const output of outputs.values()) forget(output);
      spool?.close();
      spool = undefined;
    },
  };
}

const unknownOutput = (): ToolcribError =>
  new ToolcribError(
    'NOT_FOUND',
    'output: there is no output by that handle, or no more: old ones are forgotten.',
    'Give one that a result named, or run the program again.',
  );

/** 100 random bits, in letters and digits that are not taken for each other. */
function newHandle(): string {
  let handle = '';
  for (const byte of randomBytes(20)) handle += 'abcdefghijkmnpqrstuvwxyz23456789'[byte & 31];
  return handle;
}

/** Numbers that are free, the smallest first, so that a file stays short. In memory they are only counted. */
function createSlots() {
  let next = 0;
  let taken = 0;
  const given: number[] = [];
  return {
    get taken() {
      return taken;
    },
    take: (): number => {
      taken++;
      return given.pop() ?? next++;
    },
    free(slot: number | undefined): void {
      taken--;
      if (slot !== undefined) given.push(slot);
      if (taken > 0) return;
      next = 0;
      given.length = 0;
    },
  };
}

type Forget = (output: KeptOutput) => void;

/**
 * Takes room from the owner who has most: its oldest output that has ended, else the middle of the largest that has not.
 * So nobody's output is forgotten for that of somebody who has more. False when there is nothing to take.
 */
function makeRoom(outputs: ReadonlyMap<string, KeptOutput>, forget: Forget): boolean {
  const taking = [...outputs.values()].filter(({ roomsTaken }) => roomsTaken > 0);
  const mine = ofGreediest(taking, ({ roomsTaken }) => roomsTaken);
  const ended = oldestEnded(mine);
  if (ended) {
    forget(ended);
    return true;
  }
  const [largest] = mine.sort((a, b) => b.roomsTaken - a.roomsTaken);
  return largest?.dropMiddle() ?? false;
}

/** Forgets the oldest outputs that have ended, of the owner who has most; several, so that it is not done for each call. */
function forgetSome(outputs: ReadonlyMap<string, KeptOutput>, forget: Forget): void {
  const ended = [...outputs.values()].filter(({ endedAt }) => endedAt !== undefined);
  // In the order in which they began.
  for (const output of ofGreediest(ended, () => 1).slice(0, mostOutputs / 10)) forget(output);
}

function ofGreediest(outputs: readonly KeptOutput[], weight: (output: KeptOutput) => number): KeptOutput[] {
  const byOwner = new Map<string, number>();
  for (const output of outputs) byOwner.set(output.owner, (byOwner.get(output.owner) ?? 0) + weight(output));
  const [greediest] = [...byOwner].sort(([, a], [, b]) => b - a);
  return outputs.filter(({ owner }) => owner === greediest?.[0]);
}

const oldestEnded = (outputs: readonly KeptOutput[]): KeptOutput | undefined =>
  outputs
    .filter(({ endedAt }) => endedAt !== undefined)
    .sort((a, b) => (a.endedAt ?? 0) - (b.endedAt ?? 0))[0];
