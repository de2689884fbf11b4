import type { OutputSink } from '../../core/tool.ts';
import {
  blockBytes,
  GrowingBlock,
  indexOf,
  nothingYet,
  tallyAfter,
  type Block,
  type Place,
  type Stream,
  type Tally,
} from './block.ts';

/** Where the blocks of outputs are put when they are full. */
export interface Rooms {
  /** How many blocks of one output are kept. */
  readonly mostBlocks: number;
  /** Undefined: there is no room for it, or it could not be written. */
  put(bytes: Buffer): Exclude<Place, 'dropped'> | undefined;
  free(place: Exclude<Place, 'dropped'>): void;
}

/** An output that is no larger when it ends stays in memory. */
const smallBytes = 16 * 1024;

/** What one program printed: its head and tail when it is too much. */
export class KeptOutput implements OutputSink {
  readonly handle: string;
  readonly owner: string;
  readonly about: string;
  tally: Tally = nothingYet;
  /** When it ended, in ms since 1970; undefined while it grows. */
  endedAt: number | undefined;
  /** Blocks put away that take room. */
  roomsTaken = 0;
  readonly #rooms: Rooms;
  readonly #head: Block[] = [];
  /** Begins where something is missing after the head. */
  readonly #tail: Block[] = [];
  #hasGap = false;
  #filling = new GrowingBlock(nothingYet);

  constructor(handle: string, owner: string, about: string, rooms: Rooms) {
    this.handle = handle;
    this.owner = owner;
    this.about = about;
    this.#rooms = rooms;
  }

  add(stream: Stream, chunk: Uint8Array): void {
    if (this.endedAt !== undefined) return;
    const index = indexOf(stream);
    const bytes = Buffer.isBuffer(chunk) ? chunk : Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length);
    for (let from = 0; from < bytes.length;) {
      const piece = bytes.subarray(from, from + blockBytes - this.#filling.length);
      this.#filling.add(index, piece);
      this.tally = tallyAfter(this.tally, index, piece);
      if (this.#filling.length === blockBytes) this.#putAway();
      from += piece.length;
    }
  }

  end(): void {
    if (this.endedAt !== undefined) return;
    this.endedAt = Date.now();
    const isSmall = this.roomsTaken === 0 && this.#filling.length <= smallBytes;
    if (isSmall && this.#filling.length > 0) this.#keep(this.#filling.finish(this.tally));
    else if (!isSmall) this.#putAway();
    this.#filling = new GrowingBlock(this.tally);
  }

  #putAway(): void {
    if (this.#filling.length === 0) return;
    const block: Block & { place: Buffer } = this.#filling.finish(this.tally);
    this.#filling = new GrowingBlock(this.tally);
    if (this.roomsTaken >= this.#rooms.mostBlocks) this.dropMiddle();
    const place = this.#rooms.put(block.place);
    if (place === undefined) {
      this.#hasGap = true;
      // What is kept of the tail has to follow what is missing.
      for (const dropped of this.#tail.splice(0)) this.#forget(dropped);
      return;
    }
    this.roomsTaken++;
    this.#keep({ ...block, place });
  }

  #keep(block: Block): void {
    (this.#hasGap ? this.#tail : this.#head).push(block);
  }

  /** Gives up the block in the middle; false when it has none to spare. */
  dropMiddle(): boolean {
    // The latest is what is most often wanted: as much is kept of the end as of the beginning.
    if (!this.#hasGap) this.#tail.push(...this.#head.splice(Math.ceil(this.#head.length / 2)));
    const block = this.#tail.length >= this.#head.length ? this.#tail.shift() : this.#head.pop();
    if (!block) return false;
    this.#hasGap = true;
    this.#forget(block);
    return true;
  }

  /** Gives up all of it. */
  drop(): void {
    this.endedAt ??= Date.now();
    for (const block of [...this.#head.splice(0), ...this.#tail.splice(0)]) this.#forget(block);
    this.#filling = new GrowingBlock(this.tally);
  }

  #forget(block: Block): void {
    if (block.place === 'dropped') return;
    if (this.roomsTaken > 0) {
      this.#rooms.free(block.place);
      this.roomsTaken--;
    }
    // Who is reading it must not read what comes into its place.
    block.place = 'dropped';
  }

  /** What there is of it now, in order. */
  blocks(): Block[] {
    const last = this.#filling.length > 0 ? [this.#filling.soFar(this.tally)] : [];
    return [...this.#head, ...this.#tail, ...last];
  }
}
