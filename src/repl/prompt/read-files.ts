import { readdir, readFile, stat } from 'node:fs/promises';
import { estimateTokens, firstTokens } from '../context/tokens.ts';
import { ChatError } from '../errors.ts';

/**
 * The bytes of a regular file, links followed. Throws ATTACHMENT_REFUSED for anything else, which may be a
 * pipe that nobody writes to, and for more than `mostBytes`, and what the system throws.
 */
export async function readRegularFile(path: string, mostBytes: number): Promise<Buffer> {
  const facts = await stat(path);
  if (!facts.isFile()) throw new ChatError('ATTACHMENT_REFUSED', 'no regular file');
  if (facts.size <= mostBytes) return readFile(path);
  const why = `too large, more than ${mostBytes} bytes; let a tool read a part of it`;
  throw new ChatError('ATTACHMENT_REFUSED', why);
}

/** Text in UTF-8, or in UTF-16 that says so; undefined for any other bytes, which a tool may read by name. */
export function decodeText(bytes: Uint8Array): string | undefined {
  const mark = bytes[0] === 0xff && bytes[1] === 0xfe ? 'utf-16le' : 'utf-8';
  const encoding = bytes[0] === 0xfe && bytes[1] === 0xff ? 'utf-16be' : mark;
  try {
    const text = new TextDecoder(encoding, { fatal: true }).decode(bytes);
    return text.includes('\0') ? undefined : text;
  } catch {
    return undefined; // Binary, or of an old encoding.
  }
}

/** The type of an image that models take, by its first bytes: names lie. */
export function imageType(bytes: Uint8Array): string | undefined {
  const head = Buffer.from(bytes.subarray(0, 12)).toString('latin1');
  if (head.startsWith('\x89PNG\r\n\x1a\n')) return 'image/png';
  if (head.startsWith('\xff\xd8\xff')) return 'image/jpeg';
  if (/^GIF8[79]a/.test(head)) return 'image/gif';
  if (/^RIFF.{4}WEBP/s.test(head)) return 'image/webp';
  return undefined;
}

const mostEntries = 200;

/** Lists a folder, at most 200 entries. Throws what the system does. */
export async function directoryListing(folder: string): Promise<string> {
  const entries = await readdir(folder, { withFileTypes: true });
  const lines = entries
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .slice(0, mostEntries)
    .map((entry) => {
      // A line end in a name must not make an entry of its own.
      const shown = /\p{Cc}/u.test(entry.name) ? JSON.stringify(entry.name) : entry.name;
      return entry.isSymbolicLink() ? `${shown} (link)` : `${shown}${entry.isDirectory() ? '/' : ''}`;
    });
  if (entries.length > mostEntries) lines.push(`[${entries.length - mostEntries} more]`);
  return lines.join('\n') || '[empty]';
}

/**
 * Takes as many whole lines of the beginning as fit a number of tokens; of a line that alone is too long, its
 * beginning. `part`: how much of the text that is, in words; undefined when it is all of it.
 */
export function fitLines(text: string, tokens: number): { readonly text: string; readonly part?: string } {
  if (estimateTokens(text) <= tokens) return { text };
  const lines = text.split(/(?<=\n)/);
  let left = tokens;
  let shown = 0;
  for (const line of lines) {
    left -= estimateTokens(line);
    if (left < 0) break;
    shown++;
  }
  if (shown > 0) return { text: lines.slice(0, shown).join(''), part: `${shown} of ${lines.length} lines` };
  const head = firstTokens(text, tokens);
  return { text: head, part: `${head.length} of ${text.length} characters` };
}

/** Tags that must not come from elsewhere: those that end our elements, and any that speaks for us. */
const reserved = /<(?=\s*(?:\/\s*(?:file|directory|resource|instructions|stdin)|\/?\s*environment)\b)/gi;

/** Text of elsewhere that speaks neither for us nor for anybody else. */
export const harmless = (text: string): string => text.replace(reserved, '&lt;');

/** Text of elsewhere, in an element that says where it is from, and that the text itself cannot end. */
export function wrapped(tag: string, attributes: Readonly<Record<string, string>>, text?: string): string {
  const head = Object.entries(attributes).map(([name, value]) => ` ${name}="${attribute(value)}"`);
  if (text === undefined) return `<${tag}${head.join('')}/>`;
  const body = harmless(text);
  return `<${tag}${head.join('')}>\n${body}${body.endsWith('\n') ? '' : '\n'}</${tag}>`;
}

const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

const attribute = (value: string): string =>
  value.replace(/[&<>"\p{Cc}]/gu, (character) => entities[character] ?? `&#${character.codePointAt(0)};`);
