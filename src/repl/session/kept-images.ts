import { createHash } from 'node:crypto';
import { lstatSync, readdirSync, readFileSync, rmSync, utimesSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { readSessionText, writePrivateFile } from '../files/chat-files.ts';
import type { ImagePart, ContentPart } from '../message.ts';
import type { SessionEntry } from './entry.ts';

// Images lie beside the sessions, each once by its hash, however many sessions have it.

/**
 * The age below which an image is kept: another process may have kept one and not yet said so in its session:
 * what is younger is never removed.
 */
const youngMs = 60 * 60 * 1000;
/** The mark in place of an image's data: no base64 has a colon. */
const mark = 'sha256:';

/** Finds the folder of a session file's images: `attachments` beside the folder of all sessions. */
const folderOf = (file: string): string => join(dirname(file), '..', '..', 'attachments');
const hashOf = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');

/**
 * A line of a session file, its images kept beside it. Throws CONFIG_INVALID where that folder is not ours.
 */
export const lineWithoutImages = (value: object, file: string): string =>
  JSON.stringify(value, (_, part: unknown) => (isImage(part) ? { ...part, data: keep(part, file) } : part));

const isImage = (value: unknown): value is ImagePart =>
  typeof value === 'object' && (value as { type?: unknown } | null)?.type === 'image';

function keep({ data }: ImagePart, file: string): string {
  const bytes = Buffer.from(data, 'base64');
  const path = join(folderOf(file), hashOf(bytes));
  if (lstatSync(path, { throwIfNoEntry: false })?.isFile()) utimesSync(path, new Date(), new Date());
  else writePrivateFile(path, bytes);
  return mark + hashOf(bytes);
}

/**
 * An entry as it was said, its images brought back; in place of one that is gone stands a text that says so.
 */
export function withImages(entry: SessionEntry, file: string): SessionEntry {
  const parts = (all: readonly ContentPart[]) =>
    all.map((part) => (part.type === 'image' && part.data.startsWith(mark) ? load(part, file) : part));
  if (entry.type === 'user') return { ...entry, content: parts(entry.content) };
  if (entry.type !== 'tool' || !entry.images) return entry;
  const loaded = parts(entry.images);
  const texts = loaded.flatMap((part) => (part.type === 'text' ? part.text : []));
  const text = [entry.text ?? '', ...texts].join('\n').trim();
  return { ...entry, text, images: loaded.filter((part) => part.type === 'image') };
}

function load(part: ImagePart, file: string): ContentPart {
  // It comes from a file: no other path than a hash may be made of it.
  const [, sha256 = ''] = /^sha256:([0-9a-f]{64})$/.exec(part.data) ?? [];
  try {
    const bytes = readFileSync(join(folderOf(file), sha256));
    if (hashOf(bytes) === sha256) return { ...part, data: bytes.toString('base64') };
  } catch {
    // Removed since.
  }
  return { type: 'text', text: `[attachment ${part.name ?? 'image'} is no longer there]` };
}

/**
 * Removes the images that none of all sessions has, and what a crash left half written; tells how many, and
 * bytes.
 */
export function cleanImages(folder: string, sessions: readonly string[]): { removed: number; bytes: number } {
  const images = folderOf(join(folder, 'any'));
  const texts = sessions.flatMap((file) => [...readSessionText(file).matchAll(/"sha256:(\w{64})"/g)]);
  const used = new Set(texts.map(([, sha256]) => sha256));
  const unused = (lstatSync(images, { throwIfNoEntry: false }) ? readdirSync(images) : [])
    // A crash leaves `.<hash>.<something>.tmp`.
    .filter((name) => /^\.?[0-9a-f]{64}/.test(name) && !used.has(name))
    .map((name) => ({ path: join(images, name), facts: lstatSync(join(images, name)) }))
    .filter(({ facts }) => facts.isFile() && Date.now() - facts.mtimeMs > youngMs);
  for (const { path } of unused) rmSync(path, { force: true });
  return { removed: unused.length, bytes: unused.reduce((sum, { facts }) => sum + facts.size, 0) };
}
