import { isUtf8 } from 'node:buffer';
import { createContext, Script } from 'node:vm';
import { decode, shownText } from '../../machine/decode.ts';
import { wholeCharacters } from '../../machine/output.ts';

/** Milliseconds for one page: the conversion blocks the server, and a page can be made to take for ever. */
const mostMs = 3000;
/** Elements that are left out, as a reader would skip them. */
const skipped = 'script style noscript template svg nav footer aside form button iframe'.split(' ');
/** Links and images without words: anchors, logos. */
const wordless = /!?\[[^[\]\p{L}\p{N}]{0,3}\]\([^()\s]*\)/gu;
/** The address of an image that is embedded in the page. */
const inlined = /\(data:[^()\s]*\)/g;
/** Characters that the main part of a page must have; with fewer, the whole page is taken. */
const leastText = 200;

/** The title of a page, and its content as Markdown. */
interface Page {
  readonly title: string;
  readonly text: string;
}

/** Converts a page to Markdown, with its title; undefined when that takes too long or fails. */
export async function pageToMarkdown(html: string): Promise<Page | undefined> {
  const { htmlToMarkdown } = await import('@mdream/js');
  const plugins = { filter: { exclude: skipped }, tagOverrides: { details: 'div', summary: 'p' } };
  const markdown = (part: string) =>
    htmlToMarkdown(part, { plugins }).replaceAll(wordless, '').replaceAll(inlined, '(data)').trim();
  const convert = (): Page => {
    const [, title = ''] = /<title[^<>]*>([^<]{0,1000})/i.exec(html.slice(0, 200_000)) ?? [];
    const main = markdown(mainOf(html));
    const text =
      main.length >= leastText ? main : markdown(html.slice(Math.max(0, html.search(/<body[\s>]/i))));
    return { title: markdown(title), text };
  };
  try {
    const context = createContext({ convert });
    return new Script('convert()').runInContext(context, { timeout: mostMs }) as Page;
  } catch {
    // A page can be written so that it takes too much time, depth or memory; its source is shown instead.
    return undefined;
  }
}

/** The source of the main element; empty unless there is exactly one. */
function mainOf(html: string): string {
  const [start, ...others] = Array.from(html.matchAll(/<main[\s>]/gi), ({ index }) => index);
  if (start === undefined || others.length > 0) return '';
  const end = html.toLowerCase().lastIndexOf('</main');
  return html.slice(start, end > start ? end : undefined);
}

/** Media types that are text, whatever bytes they have. */
const textTypes = /^text\/|[/+](?:json|xml|yaml|toml|(?:x-)?javascript|ecmascript|x-ndjson)\b/;

/**
 * Decodes a body by its byte order mark, by the charset of its Content-Type header, or by the charset that it
 * names itself; undefined when it is not text.
 */
export function decodeBody(body: Buffer, type: string): string | undefined {
  const inside = /html|xml/i.test(type) ? charsetOf(body.toString('latin1', 0, 1024)) : undefined;
  // A body whose first bytes could be read as ASCII is not UTF-16, whatever it says.
  const label = markOf(body) ?? charsetOf(type) ?? inside?.replace(/^utf-16.*/, 'utf-8');
  if (body.includes(0) && !label?.startsWith('utf-16')) return undefined;
  if (!textTypes.test(type) && label === undefined && !isUtf8(wholeCharacters(body))) return undefined;
  // Without a charset it is UTF-8, or windows-1252, which was usual on the web before.
  const text =
    label === undefined || label === 'utf-8' ? decode(body, 'windows-1252') : shownText(body, label);
  return text.replace(/^\ufeff/, '');
}

function markOf(body: Buffer): string | undefined {
  const start = body.toString('latin1', 0, 3);
  if (start === '\xef\xbb\xbf') return 'utf-8';
  if (start.startsWith('\xff\xfe')) return 'utf-16le';
  return start.startsWith('\xfe\xff') ? 'utf-16be' : undefined;
}

/** The charset that a header, `<meta>` or `<?xml?>` names, as TextDecoder calls it. */
function charsetOf(text: string): string | undefined {
  const [, name = ''] = /(?:charset|^<\?xml[^>]{0,100}encoding)\s*=\s*["']?([\w.:-]+)/i.exec(text) ?? [];
  try {
    return name === '' ? undefined : new TextDecoder(name).encoding;
  } catch {
    // The name of no charset.
    return undefined;
  }
}
