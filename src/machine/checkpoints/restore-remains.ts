import { lstat, readdir, rm, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod';
import type { Workspace } from '../../core/tool.ts';
import { temporaryName } from '../changes/change-kit.ts';
import { parentOf, temporaryPattern, type ByteName } from './changed-files.ts';
import { readPrivate } from '../folders.ts';
import { isAlive, thisOwner, type Owner } from '../changes/lock-owner.ts';
import { openScopes } from './open-scopes.ts';
import { below, inParent } from './parent-folder.ts';
import { replaceFile, type Shadow } from './shadow-store.ts';

/** A restore that is going on, as far as somebody else has to know to clean up after it. */
export interface Underway {
  /** The name under which each file is made, beside its place. */
  readonly temporary: string;
  /** What its own files in the shadow are called after. */
  readonly key: string;
  end(): Promise<void>;
}

const recordName = /^restoring\.([-0-9a-f]{36})$/;

const optional = z.string().exactOptional();
const recordSchema = z.object({
  owner: z.object({
    pid: z.number(),
    host: z.string(),
    started: optional,
    boot: optional,
    numbers: optional,
  }) satisfies z.ZodType<Owner>,
  since: z.number(),
  temporary: z.string().regex(temporaryPattern),
  folders: z.array(z.string()),
});

/** Notes where a restore will make files, before it does. Throws what the system says. */
export async function noteRestore(shadow: Shadow, names: readonly ByteName[]): Promise<Underway> {
  const [key, temporary] = [globalThis.crypto.randomUUID(), temporaryName()];
  const folders = [...new Set(names.map(parentOf))];
  const path = join(shadow.folder, `restoring.${key}`);
  await replaceFile(path, JSON.stringify({ owner: thisOwner(), since: Date.now(), temporary, folders }));
  return { key, temporary, end: () => rm(path, { force: true }) };
}

/**
 * Removes what restores have left whose process has died. Only what is called as files of ours are, in the scopes, and no
 * folder: whatever the record says. Throws what the gate throws; then it is tried again the next time.
 */
export async function sweepRestores(shadow: Shadow, workspace: Workspace): Promise<void> {
  const names = await readdir(shadow.folder).catch(() => []);
  for (const name of names) {
    const [, key] = recordName.exec(name) ?? [];
    if (key === undefined) continue;
    const record = readRecord(shadow, name);
    if (record && isAlive(record.owner, record.since, thisOwner())) continue;
    if (record) await removeTemporaries(record, shadow, workspace);
    await removeStaged(shadow, key);
    await rm(join(shadow.folder, name), { force: true });
  }
}

function readRecord({ folder }: Shadow, name: string): z.output<typeof recordSchema> | undefined {
  try {
    return recordSchema.parse(JSON.parse(String(readPrivate(folder, name))));
  } catch {
    // Damaged: it leads nowhere.
    return undefined;
  }
}

async function removeTemporaries(
  { temporary, folders }: z.output<typeof recordSchema>,
  shadow: Shadow,
  workspace: Workspace,
): Promise<void> {
  const scopes = await openScopes(shadow, workspace);
  try {
    for (const folder of folders) {
      const name = folder === '' ? temporary : `${folder}/${temporary}`;
      // Not there, not allowed, or behind a link by now: then there is nothing of ours to remove.
      await inParent(name, { scopeOf: scopes.scopeOf, makeMissing: false }, async (parent, last) => {
        const path = below(parent, last);
        if (!(await lstat(path)).isDirectory()) await unlink(path);
      }).catch(() => {});
    }
  } finally {
    await scopes.close();
  }
}

/** What `stage` has made for a restore. */
export async function removeStaged({ folder }: Shadow, key: string): Promise<void> {
  for (const name of [`staged.${key}`, `staged-index.${key}`, `staged-index.${key}.lock`])
    await rm(join(folder, name), { recursive: true, force: true });
}
