import { createHash } from 'node:crypto';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';
import { ToolcribError } from '../../core/errors.ts';
import { discard, isPrivate, readCache, readPrivate, writePrivate } from '../folders.ts';

const lasting = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('action'), tool: z.string() }),
  z.strictObject({ kind: z.literal('prefix'), program: z.string(), words: z.array(z.string()).readonly() }),
  z.strictObject({ kind: z.literal('database'), database: z.string() }),
]);

const trustRecord = z.strictObject({
  folder: z.string(),
  /** Of the folder. Not its device: on some systems that has another number after each start. */
  inode: z.string(),
  origin: z.string().exactOptional(),
  /** ISO 8601; left out when there are only answers of "always". */
  trustedAt: z.string().exactOptional(),
  always: z.array(lasting).readonly(),
});
export type TrustRecord = z.output<typeof trustRecord>;

/** What is kept in the state folder: a private file for each folder. One that is damaged counts as none. */
export function createTrustRecords(state: string | undefined) {
  const kept = state === undefined ? undefined : join(state, 'trust');
  const readFile = (name: string) => trustRecord.safeParse(readCache(kept, name)).data;
  const read = (folder: string) =>
    kept !== undefined && existsSync(join(kept, nameOf(folder))) ? readFile(nameOf(folder)) : undefined;

  return {
    read,
    all(): TrustRecord[] {
      if (kept === undefined || !isPrivate(kept)) return [];
      return readdirSync(kept).flatMap((name) => readFile(name) ?? []);
    },
    /** Throws WRITE_FAILED. */
    write(record: TrustRecord): void {
      const [name, text] = [nameOf(record.folder), JSON.stringify(record)];
      writePrivate(kept, name, text);
      if (readPrivate(kept, name)?.toString('utf8') !== text) throw notWritten(kept);
    },
    /** Whether there was one. Throws WRITE_FAILED. */
    remove(folder: string): boolean {
      const was = read(folder) !== undefined;
      if (was) discard(`${kept}/${nameOf(folder)}`);
      if (read(folder)) throw notWritten(kept);
      return was;
    },
  };
}

const nameOf = (folder: string): string => `${createHash('sha256').update(folder).digest('hex')}.json`;

const notWritten = (kept = 'The state folder'): ToolcribError =>
  new ToolcribError('WRITE_FAILED', `${kept} cannot be written.`, 'It has to be yours alone (chmod 700).');
