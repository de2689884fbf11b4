import { realpath, stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { resolve } from 'node:path';
import type { Chat } from '../chat.ts';
import { estimateTokens } from '../context/tokens.ts';
import { ChatError } from '../errors.ts';
import type { ContentPart } from '../message.ts';
import { live } from '../terminal/paste.ts';
import { fitLines, wrapped, decodeText, directoryListing, imageType, readRegularFile } from './read-files.ts';

/** No context window holds more. */
const mostBytes = 10 * 1024 * 1024;
/** The bytes that every provider takes in one image. */
const mostImageBytes = 5 * 1024 * 1024;
/** The share of the window for all that a message brings along but images: the rest is for the work. */
const share = 0.25;

/** The content of a mention: a text or an image, or why it is neither. */
interface Attachment {
  readonly tag: 'file' | 'directory' | 'resource';
  readonly name: string;
  readonly content: ContentPart | string;
}

/**
 * Reads what a message mentions with `@`: files, folders (as listings), resources of servers. Together they
 * fit the budget: the large ones are cut, at a line end, and say so. What cannot be read is told in its
 * place; what names nothing stays text. Never throws.
 */
export async function readAttachments(text: string, chat: Chat) {
  const seen = new Set<string>();
  const found: Attachment[] = [];
  for (const mention of mentionsIn(text)) found.push(...(await attachedBy(mention, chat, seen)));
  const texts = found.flatMap(({ content }) =>
    typeof content !== 'string' && content.type === 'text' ? [content.text] : [],
  );
  const budget = Math.floor(chat.model.capabilities.contextWindow * share);
  const most = fairShare(texts.map(estimateTokens), budget);
  /**
   * Notices for the person: a note for each that was read, a warning for each that was cut, refused or is not
   * there.
   */
  const notices: { type: 'note' | 'warning'; text: string }[] = [];
  const notify = (type: 'note' | 'warning', text: string) => notices.push({ type, text });
  const blocks: string[] = [];
  const images: ContentPart[] = [];
  for (const { tag, name, content } of found) {
    if (typeof content === 'string') {
      blocks.push(wrapped(tag, { path: name, error: content }));
      notify('warning', `${name}: ${content}`);
    } else if (content.type === 'image') {
      images.push({ ...content, name });
      notify('note', `${name}: ${content.mimeType}`);
    } else {
      const { text: kept, part } = fitLines(content.text, most);
      const notice = part === undefined ? '' : `\n[truncated: ${part}]`;
      blocks.push(wrapped(tag, { path: name }, kept.trimEnd() + notice));
      const count = content.text.split(/\n(?!$)/).length;
      if (part === undefined) notify('note', `${name}: ${count} ${count === 1 ? 'line' : 'lines'}`);
      else notify('warning', `${name}: cut to ${part}`);
    }
  }
  const whole: ContentPart = { type: 'text', text: [live(text), ...blocks].join('\n\n') };
  return { content: [whole, ...images], notices };
}

/**
 * The most that each may have, so that all fit: the small ones are whole, and the large ones share what they
 * leave.
 */
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

/** Reads a mention; nothing for what names nothing, or is in `seen` already. */
async function attachedBy(
  { names, quoted }: Mention,
  { folder, environment, model }: Chat,
  seen: Set<string>,
): Promise<readonly Attachment[]> {
  const servers = environment.toolbox.servers();
  for (const name of names) {
    const path = absolute(name, folder);
    const facts = await stat(path).catch(() => undefined);
    const real = facts ? await realpath(path).catch(() => path) : name;
    if (seen.has(real)) return [];
    const tag = facts?.isDirectory() ? 'directory' : facts ? 'file' : 'resource';
    const [, server = '', uri = ''] = /^([\w-]{2,}):([a-z][a-z\d+.-]*:\S+)$/i.exec(name) ?? [];
    let parts: readonly (ContentPart | string)[];
    try {
      if (tag === 'directory') parts = [{ type: 'text', text: await directoryListing(path) }];
      else if (tag === 'file') parts = [await contentOf(path)];
      else parts = (uri && (await servers.find((one) => one.name === server)?.resource(uri))) || [];
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException;
      parts = [error instanceof ChatError ? message : (code ?? message)];
    }
    if (parts.length === 0) continue;
    seen.add(real);
    const { images } = model.capabilities;
    const isRefused = (part: ContentPart | string) =>
      typeof part !== 'string' && part.type === 'image' && !images;
    const refused = 'an image, and this model takes none';
    return parts.map((part) => ({ tag, name, content: isRefused(part) ? refused : part }));
  }
  const name = names.at(-1);
  // Else it may well be a person, or anything.
  const looksLikePath = name !== undefined && (quoted || /[./\\]/.test(name));
  return looksLikePath ? [{ tag: 'file', name, content: 'no such file' }] : [];
}

/** `~` is a person's word for the home folder, here as in a shell. */
export const absolute = (name: string, cwd: string): string =>
  resolve(cwd, /^~(?=$|[/\\])/.test(name) ? homedir() + name.slice(1) : name);

/** Throws ATTACHMENT_REFUSED for what the model cannot read. */
async function contentOf(path: string): Promise<ContentPart> {
  const bytes = await readRegularFile(path, mostBytes);
  const mimeType = imageType(bytes);
  if (mimeType !== undefined && bytes.length > mostImageBytes)
    throw new ChatError('ATTACHMENT_REFUSED', `an image of ${bytes.length} bytes, more than 5 MB`);
  if (mimeType !== undefined) return { type: 'image', mimeType, data: bytes.toString('base64') };
  const text = decodeText(bytes);
  if (text !== undefined) return { type: 'text', text };
  throw new ChatError('ATTACHMENT_REFUSED', `no text in UTF-8, ${bytes.length} bytes`);
}

/** Something that may be a file, a folder or a resource: `@name` or `@"name with spaces"`. */
interface Mention {
  /** The names it may mean, best first: what follows a name in a sentence is not always part of it. */
  readonly names: readonly string[];
  /** Written in quotes: surely meant as a name. */
  readonly quoted: boolean;
}

/** More are not looked at, nor longer ones: a file of prompts may be full of them. */
const mostMentions = 200;
const mostChars = 1024;

/**
 * The mentions in a text, each once. The `@` of an e-mail address, inside a word, is none, nor one that is
 * `inert`.
 */
function mentionsIn(text: string): readonly Mention[] {
  const found = new Map<string, Mention>();
  // U+FE0E is the mark of inert.ts: only the beginning of a name has to be the person's own.
  for (const [whole, quoted, plain = ''] of text.matchAll(
    /(?<![\w@./+-])@(?!\ufe0e)(?:"([^"\r\n]+)"|([^\s"@]+(?:(?<=[!-~])@[^\s"@]+){0,8}))/g,
  )) {
    if (found.size === mostMentions) break;
    const names = quoted === undefined ? shorter(live(plain).slice(0, mostChars)) : [live(quoted)];
    found.set(whole, { names, quoted: quoted !== undefined });
  }
  return [...found.values()];
}

/**
 * The name without what may follow it in a sentence: punctuation, or text of a script that needs no spaces.
 */
function shorter(name: string): string[] {
  const rest = name.replace(/(?:[.,;:!?)\]}>'`*]|[^\0-\x7f]+)$/, '');
  // `@.` and `@...` are marks of a sentence; the folder is written `@./`.
  if (/^\.*$/.test(name)) return [];
  return rest === name ? [name] : [name, ...shorter(rest)];
}
