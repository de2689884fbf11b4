import type { Splice } from './splice.ts';

/** What was, or came to be, at a path. */
export interface Facts {
  readonly kind: 'file' | 'link' | 'folder' | 'other';
  /** Bytes; of a folder, those of all files in it. */
  readonly size: number;
  /** In a folder, with the folders; left out when it holds more than is counted. */
  readonly entries?: number;
  /**
   * By which it is known again: of a file the SHA-256 of its content, of a link that of its target, of a folder that of
   * the names and sizes in it. Left out when it is larger than is looked at.
   */
  readonly hash?: string;
}

/** A change that was made through toolcrib. */
export interface Change {
  readonly id: string;
  /** Date.now() */
  readonly at: number;
  /** What the caller called it: edit, write, delete, move, undo… */
  readonly kind: string;
  /** Real absolute path. */
  readonly path: string;
  /** Where it was moved to. */
  readonly to?: string;
  /** Left out where nothing was at the path. */
  readonly before?: Facts;
  /** Left out where nothing is at the path any more. */
  readonly after?: Facts;
  readonly added?: number;
  readonly removed?: number;
  /** The change that this one takes back. */
  readonly undoes?: string;
  /** The change that took this one back. */
  readonly undoneBy?: string;
}

/** A change as the journal keeps it. */
export interface Entry extends Change {
  /**
   * What was done: `write` replaced or made a file; the others moved something: into the journal, from there back, or
   * from path to path.
   */
  readonly step: 'write' | 'remove' | 'restore' | 'move';
  /** How the content after a write is made from the one before, or from nothing. Left out when much was inserted. */
  readonly splice?: Splice;
  /** The folders that were made for it, outermost first. */
  readonly made?: readonly string[];
  /** The name of what is half done: beside the new place, and between file systems also beside the old one. */
  readonly temporary: string;
  /** Only between file systems: the inode of the finished copy. */
  readonly copy?: number;
}

/** As others see it. */
export function changeOf(entry: Entry, undoneBy?: string): Change {
  const { step: _, splice: _1, made: _2, temporary: _3, copy: _4, ...change } = entry;
  return undoneBy === undefined ? change : { ...change, undoneBy };
}
