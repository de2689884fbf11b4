import { randomBytes, randomInt } from 'node:crypto';
import { isAbsolute, normalize } from 'node:path';
import * as z from 'zod';
import type { Place } from '../paths/place.ts';

const hash = z.string().regex(/^[0-9a-f]{64}$/);
const id = z.string().regex(/^[0-9a-z]{1,20}-[0-9a-z]{1,20}$/);
const count = z.number().nonnegative();
const realPath = z
  .string()
  .refine((path) => !path.includes('\0') && isAbsolute(path) && normalize(path) === path);

const factsSchema = z.object({
  kind: z.enum(['file', 'link', 'folder', 'other']),
  /** Bytes; of a folder, those of all files in it. */
  size: count,
  /** In a folder, with the folders; left out when it holds more than is counted. */
  entries: z.exactOptional(count),
  /** Of a file that of its content, of a link of its target, of a folder of the names and sizes in it. */
  hash: z.exactOptional(hash),
});

/**
 * A change as the history keeps it. What is there can come from anywhere when the folder does: its names are parts of
 * paths, so none may lead out of it.
 */
const entrySchema = z.object({
  id,
  /** Date.now() */
  at: z.number(),
  /** What the caller called it: edit, write, delete, move, undo… */
  kind: z.string(),
  /** `write` replaced or made a file; the others moved something: into the history, from there back, or elsewhere. */
  step: z.enum(['write', 'remove', 'restore', 'move']),
  path: realPath,
  /** Where it was moved to. */
  to: z.exactOptional(realPath),
  /** Left out where nothing was at the path. */
  before: z.exactOptional(factsSchema),
  /** Left out where nothing is at the path any more. */
  after: z.exactOptional(factsSchema),
  added: z.exactOptional(count),
  removed: z.exactOptional(count),
  /** The change that this one takes back. */
  undoes: z.exactOptional(id),
  /** The folders that were made for it, outermost first. */
  made: z.exactOptional(z.array(realPath)),
  /** What is half done is called so, beside the new place, by the process of this number. */
  temporary: z.string().regex(/^\.toolcrib-[0-9a-f]{16}\.tmp$/),
  pid: z.number(),
});

const droppedSchema = z.object({ dropped: id });

export type Facts = Readonly<z.output<typeof factsSchema>>;
export type Entry = Readonly<z.output<typeof entrySchema>>;

/** A change that was made through toolcrib. */
export interface Change extends Entry {
  /** The change that took this one back. */
  readonly undoneBy?: string;
}

/** The changes in the lines of a history, oldest first, without those that came to nothing and what cannot be read. */
export function entriesIn(lines: readonly unknown[]): Entry[] {
  const dropped = new Set(lines.map((line) => droppedSchema.safeParse(line).data?.dropped));
  return lines.flatMap((line) => {
    const entry = entrySchema.safeParse(line).data;
    return entry && !dropped.has(entry.id) ? [entry] : [];
  });
}

export interface About {
  /** What to call it in the list: edit, write, delete, move… */
  readonly kind: string;
  readonly undoes?: string;
  readonly signal?: AbortSignal | undefined;
}

/** Hidden from listings, recognised by people, and met by nobody by chance. */
export const temporaryName = (): string => `.toolcrib-${randomBytes(8).toString('hex')}.tmp`;

/** What every change has. A second process may make one in the same millisecond. */
export function newEntry(
  step: Entry['step'],
  { path, made }: Pick<Place, 'path' | 'made'>,
  about: About,
): Entry {
  const at = Date.now();
  const random = randomInt(36 ** 4).toString(36);
  return {
    id: `${at.toString(36)}-${random.padStart(4, '0')}`,
    at,
    kind: about.kind,
    step,
    path,
    ...(about.undoes !== undefined && { undoes: about.undoes }),
    ...(made.length > 0 && { made: [...made] }),
    temporary: temporaryName(),
    pid: process.pid,
  };
}
