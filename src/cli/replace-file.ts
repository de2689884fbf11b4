import { constants } from 'node:fs';
import { copyFile, mkdir, readFile, realpath, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { ToolcribError } from '../core/errors.ts';
import { UsageError } from './usage.ts';

/**
 * Reads the text of a file; empty where there is none. Throws ENCODING, and UsageError for what cannot be
 * read.
 */
export async function textOf(file: string): Promise<string> {
  const bytes = await readFile(file).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw new UsageError(`${file}: cannot be read (${error.code}).`);
  });
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new ToolcribError('ENCODING', `${file}: is no UTF-8.`, 'Save it as UTF-8; nothing was written.');
  }
}

const backupOf = (real: string): string => `${real}.before-toolcrib`;

/** Resolves links, because many people keep their configuration elsewhere, behind one. */
const behindLinks = (file: string): Promise<string> => realpath(file).catch(() => file);

/** Copies a file as it was before toolcrib came, once. Returns the path of the copy. */
export async function keep(file: string): Promise<string | undefined> {
  const real = await behindLinks(file);
  try {
    await copyFile(real, backupOf(real), constants.COPYFILE_EXCL);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return undefined;
    if (code !== 'EEXIST') throw error;
  }
  return backupOf(real);
}

/** Reads the copy; undefined where there is none, or it cannot be read. */
export async function keptText(file: string): Promise<string | undefined> {
  const bytes = await readFile(backupOf(await behindLinks(file))).catch(() => undefined);
  return bytes?.toString('utf8');
}

/**
 * Replaces a file as a whole, behind its links. Throws STALE_FILE when somebody else has changed it
 * meanwhile.
 */
export async function replace(file: string, before: string, text: string): Promise<void> {
  await mkdir(dirname(file), { recursive: true });
  const real = await behindLinks(file);
  const old = await stat(real).catch(() => undefined);
  const temporary = `${real}.${process.pid}.tmp`;
  try {
    const mode = old ? old.mode & 0o777 : 0o600;
    await writeFile(temporary, text, { flag: 'wx', mode, flush: true });
    // A running host may write its settings at any time.
    if ((await textOf(file)) !== before)
      throw new ToolcribError('STALE_FILE', `${file} was changed meanwhile.`, 'Do it again.');
    await rename(temporary, real);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}
