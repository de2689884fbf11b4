import { realpath, stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { resolve } from 'node:path';
import { estimateTokens } from '../context/tokens.ts';
import { ChatError } from '../errors.ts';
import type { Part } from '../message.ts';
import { live } from '../text/inert.ts';
import { fitLines, wrapped } from './elements.ts';
import { mentionsIn, type Mention } from './mentions.ts';
import { decodeText, directoryListing, imageType, readRegularFile } from './read-files.ts';

/** No context window holds more. */
const mostBytes = 10 * 1024 * 1024;
/** As much as every provider takes in one image. */
const mostImageBytes = 5 * 1024 * 1024;

export interface AttachmentOptions {
  readonly cwd: string;
  /** The model takes images. */
  readonly images: boolean;
  /** For all attachments of the message together; images do not count. */
  readonly budgetTokens: number;
  /** Undefined when there is no such server: then `server:uri` is only text. */
  readResource(server: string, uri: string): Promise<readonly Part[] | undefined>;
}

export interface Attachments {
  /** The text with what it mentions below it, and the images. */
  readonly content: Part[];
  /** For the person, a line for each attachment that was read. */
  readonly notes: string[];
  /** And for each that was cut, refused or is not there. */
  readonly warnings: string[];
  /** What the person called an image of `content`. */
  nameOf(part: Part): string | undefined;
}

/** What a mention stands for: a text or an image, or why it is neither. */
interface Attached {
  readonly tag: 'file' | 'directory' | 'resource';
  readonly name: string;
  readonly content: Part | string;
}

/**
 * Reads what a message mentions with `@`: files, folders (as listings), resources of servers. Together they fit the
 * budget: the large ones are cut, at a line end, and say so. What cannot be read is told in its place; what
 * names nothing stays text. Never throws.
 */
export async function readAttachments(text: string, options: AttachmentOptions): Promise<Attachments> {
  const seen = new Set<string>();
  const found: Attached[] = [];
  for (const mention of mentionsIn(text)) found.push(...(await attachedBy(mention, options, seen)));
  const texts = found.flatMap(({ content }) =>
    typeof content !== 'string' && content.type === 'text' ? [content.text] : [],
  );
  const share = fairShare(texts.map(estimateTokens), options.budgetTokens);
  const notes: string[] = [];
  const warnings: string[] = [];
  const blocks: string[] = [];
  const images = new Map<Part, string>();
  for (const { tag, name, content } of found) {
    if (typeof content === 'string') {
      blocks.push(wrapped(tag, { path: name, error: content }));
      warnings.push(`${name}: ${content}`);
    } else if (content.type === 'image') {
      images.set(content, name);
      notes.push(`${name}: ${content.mimeType}`);
    } else {
      const { text: kept, part } = fitLines(content.text, share);
      const notice = part === undefined ? '' : `\n[truncated: ${part}]`;
      blocks.push(wrapped(tag, { path: name }, kept.trimEnd() + notice));
      const count = content.text.split(/\n(?!$)/).length;
      if (part === undefined) notes.push(`${name}: ${count} ${count === 1 ? 'line' : 'lines'}`);
      else warnings.push(`${name}: cut to ${part}`);
    }
  }
  return {
    content: [{ type: 'text', text: [live(text), ...blocks].join('\n\n') }, ...images.keys()],
    notes,
    warnings,
    nameOf: (part) => images.get(part),
  };
}

/** The most that each may have, so that all fit: the small ones are whole, and the large ones share what they leave. */
function fairShare(sizes: readonly number[], budget: number): number {
  let left = budget;
  const sorted = sizes.toSorted((one, other) => one - other);
  for (const [at, size] of sorted.entries()) {
    const each = Math.floor(left / (sorted.length - at));
    if (size > each) return Math.max(0, each);
    left -= size;
  }
  return Infinity;
}

/** Nothing for what names nothing, or is in `seen` already. */
async function attachedBy(
  { names, quoted }: Mention,
  { cwd, images, readResource }: AttachmentOptions,
  seen: Set<string>,
): Promise<readonly Attached[]> {
  for (const name of names) {
    const path = absolute(name, cwd);
    const facts = await stat(path).catch(() => undefined);
    const [, server, uri] = /^([\w-]{2,}):([a-z][a-z\d+.-]*:\S+)$/i.exec(name) ?? [];
    const real = facts ? await realpath(path).catch(() => path) : name;
    if (seen.has(real)) return [];
    const tag = facts?.isDirectory() ? 'directory' : facts ? 'file' : 'resource';
    const found = await attempt(tag, name, async () => {
      if (tag === 'directory') return [{ type: 'text', text: await directoryListing(path) }];
      if (tag === 'file') return [taken(await contentOf(path), images)];
      const parts = server && uri ? await readResource(server, uri) : undefined;
      return (parts ?? []).map((part) => taken(part, images));
    });
    if (found.length === 0) continue;
    seen.add(real);
    return found;
  }
  const name = names.at(-1);
  // Else it may well be a person, or anything.
  const looksLikePath = name !== undefined && (quoted || /[./\\]/.test(name));
  return looksLikePath ? [{ tag: 'file', name, content: 'no such file' }] : [];
}

/** `~` is a person's word for the home folder, here as in a shell. */
export const absolute = (name: string, cwd: string): string =>
  resolve(cwd, /^~(?=$|[/\\])/.test(name) ? homedir() + name.slice(1) : name);

async function attempt(
  tag: Attached['tag'],
  name: string,
  read: () => Promise<readonly Part[]>,
): Promise<Attached[]> {
  try {
    return (await read()).map((content) => ({ tag, name, content }));
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    return [{ tag, name, content: error instanceof ChatError ? message : (code ?? message) }];
  }
}

/** Throws ATTACHMENT_REFUSED for what the model cannot read. */
async function contentOf(path: string): Promise<Part> {
  const bytes = await readRegularFile(path, mostBytes);
  const mimeType = imageType(bytes);
  if (mimeType !== undefined && bytes.length > mostImageBytes)
    throw new ChatError('ATTACHMENT_REFUSED', `an image of ${bytes.length} bytes, more than 5 MB`);
  if (mimeType !== undefined) return { type: 'image', mimeType, data: bytes.toString('base64') };
  const text = decodeText(bytes);
  if (text !== undefined) return { type: 'text', text };
  throw new ChatError('ATTACHMENT_REFUSED', `no text in UTF-8, ${bytes.length} bytes`);
}

function taken(part: Part, images: boolean): Part {
  if (part.type === 'text' || images) return part;
  throw new ChatError('ATTACHMENT_REFUSED', 'an image, and this model takes none');
}
