import { randomBytes, randomInt } from 'node:crypto';
import { isAbsolute, normalize } from 'node:path';
import * as z from 'zod';

const id = z.string().regex(/^[0-9a-z]{1,20}(?:-[0-9a-z]{1,20})?$/);
const tree = z.string().regex(/^[0-9a-f]{40}$/);
const count = z.number().nonnegative();
const realPath = z
  .string()
  .refine((path) => !path.includes('\0') && isAbsolute(path) && normalize(path) === path);

const factsSchema = z.object({
  kind: z.enum(['file', 'link', 'folder', 'other']),
  /** Bytes; of a folder, those of all files in it. */
  size: count,
  /** In a folder, with the folders. */
  entries: z.exactOptional(count),
  /** SHA-256 of a file's content, or of a link's target. */
  hash: z.exactOptional(z.string().regex(/^[0-9a-f]{64}$/)),
});

/** The states of a work tree before and after a command. */
const statesSchema = z.object({
  /** Of which work tree, and what part of it. */
  top: realPath,
  scope: realPath,
  before: tree,
  after: tree,
  /** The number of files it changed. */
  files: count,
});

/**
 * A change as the history keeps it. What is there can come from anywhere when the folder does: its names are
 * parts of paths, so none may lead out of it.
 */
const entrySchema = z.object({
  id,
  /** Date.now() */
  at: z.number(),
  /** The caller's name for it: edit, write, delete, move, ran, undo… */
  kind: z.string(),
  /**
   * `write` replaced a file, or made what is there; `remove` and `move` moved something, into the history or
   * elsewhere; `command` may have changed any file of a work tree.
   */
  step: z.enum(['write', 'remove', 'move', 'command']),
  /** Of a command, the folder it ran in. */
  path: realPath,
  /** The new path of what was moved. */
  to: z.exactOptional(realPath),
  /** The file before; left out where there was none. */
  before: z.exactOptional(factsSchema),
  /** The file after; left out where there is none. */
  after: z.exactOptional(factsSchema),
  /** Of a command that was seen to end. */
  states: z.exactOptional(statesSchema),
  /** The command line. */
  command: z.exactOptional(z.string()),
  added: z.exactOptional(count),
  removed: z.exactOptional(count),
  /** The change that this one takes back, and whether only in part. */
  undoes: z.exactOptional(id),
  part: z.exactOptional(z.boolean()),
  /** The id under which the backup is, or was, when not its own. */
  kept: z.exactOptional(id),
  /** The name of an unfinished file, beside the new path, of the process with this id. */
  temporary: z.string().regex(/^\.toolcrib-[0-9a-f]{16}\.tmp$/),
  pid: z.number(),
});

export type Facts = Readonly<z.output<typeof factsSchema>>;
export type States = Readonly<z.output<typeof statesSchema>>;
/** A change that was made through toolcrib. */
export type Change = Readonly<z.output<typeof entrySchema>>;

/**
 * The changes in the lines of a history, oldest first, without those that came to nothing and what cannot be
 * read.
 */
export function changesIn(lines: readonly unknown[]): Change[] {
  const changes = new Map<string, Change>();
  for (const line of lines) {
    if (line instanceof Object && 'dropped' in line) changes.delete(String(line.dropped));
    const change = entrySchema.safeParse(line).data;
    // A command is logged once more, in its place, when it has ended.
    if (change) changes.set(change.id, change);
  }
  return [...changes.values()].filter(({ step, states }) => step !== 'command' || states);
}

/** The details of a change that its caller gives. */
export interface ChangeDetails {
  /** The name in the list: edit, write, delete, move… */
  readonly kind: string;
  readonly undoes?: string;
  /** Only tries if it could be done. */
  readonly dryRun?: boolean;
  readonly signal?: AbortSignal | undefined;
}

/** The kind of changes that are one: undo takes them back together. */
export const togetherAs = (kind: string): string => `${kind}@${randomBytes(4).toString('hex')}`;

/** Tells if two changes are one act. */
export const areTogether = (one: Change, other: Change): boolean =>
  one.kind === other.kind && one.kind.includes('@');

/** Hidden from listings, recognised by people, and met by nobody by chance. */
export const temporaryName = (): string => `.toolcrib-${randomBytes(8).toString('hex')}.tmp`;

/**
 * Creates a change with what every change has. Its id is short, as each answer has it, and unique among
 * thousands.
 */
export function newChange(step: Change['step'], path: string, { kind, undoes }: ChangeDetails): Change {
  return {
    id: randomInt(36 ** 6, 36 ** 7).toString(36),
    at: Date.now(),
    kind,
    step,
    path,
    ...(undoes !== undefined && { undoes }),
    temporary: temporaryName(),
    pid: process.pid,
  };
}
