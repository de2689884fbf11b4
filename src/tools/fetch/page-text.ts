import { isUtf8 } from 'node:buffer';
import { createContext, Script } from 'node:vm';
import { decode, shownText } from '../../machine/decode.ts';
import { wholeCharacters } from '../../machine/output.ts';

/** Nothing else goes on while a page is laid out, and one can be made to take for ever. */
const mostMs = 3000;
/** What a reader skips. */
const skipped = 'script style noscript template svg nav footer aside form button iframe'.split(' ');
/** Links and images that show nothing to read: anchors, logos. */
const wordless = /!?\[[^[\]\p{L}\p{N}]{0,3}\]\([^()\s]*\)/gu;
/** An image within the page itself. */
const inlined = /\(data:[^()\s]*\)/g;
/** Characters; a main part with less is none. */
const leastText = 200;

/** A page as Markdown, with its title; undefined where it cannot be laid out. */
export async function pageText(html: string): Promise<{ title: string; text: string } | undefined> {
  const { htmlToMarkdown } = await import('@mdream/js');
  const plugins = { filter: { exclude: skipped }, tagOverrides: { details: 'div', summary: 'p' } };
  const markdown = (part: string) =>
    htmlToMarkdown(part, { plugins }).replaceAll(wordless, '').replaceAll(inlined, '(data)').trim();
  const work = () => {
    const [, title = ''] = /<title[^<>]*>([^<]{0,1000})/i.exec(html.slice(0, 200_000)) ?? [];
    const main = markdown(mainOf(html));
    const text =
      main.length >= leastText ? main : markdown(html.slice(Math.max(0, html.search(/<body[\s>]/i))));
    return { title: markdown(title), text };
  };
  try {
    const context = createContext({ work });
    return new Script('work()').runInContext(context, { timeout: mostMs }) as ReturnType<typeof work>;
  } catch {
    // It takes too long, or more depth or memory than there is: who wrote the page decides that. Its source
    // is shown.
    return undefined;
  }
}

/** What a page says is its subject; empty where it does not say so of one part. */
function mainOf(html: string): string {
  const [start, ...others] = Array.from(html.matchAll(/<main[\s>]/gi), ({ index }) => index);
  if (start === undefined || others.length > 0) return '';
  const end = html.toLowerCase().lastIndexOf('</main');
  return html.slice(start, end > start ? end : undefined);
}

/** Types that are text whatever bytes they have. */
const textual = /^text\/|[/+](?:json|xml|yaml|toml|(?:x-)?javascript|ecmascript|x-ndjson)\b/;

/**
 * The text of a body, by the charset of its type, its byte order mark or what it says itself; undefined where
 * it is none. `type` is the whole header.
 */
export function bodyText(body: Buffer, type: string): string | undefined {
  const inside = /html|xml/i.test(type) ? charsetOf(body.toString('latin1', 0, 1024)) : undefined;
  // What reads as ASCII so far cannot be UTF-16.
  const label = markOf(body) ?? charsetOf(type) ?? inside?.replace(/^utf-16.*/, 'utf-8');
  if (body.includes(0) && !label?.startsWith('utf-16')) return undefined;
  if (!textual.test(type) && label === undefined && !isUtf8(wholeCharacters(body))) return undefined;
  // What is not said is UTF-8, or what the web was written in before.
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
    // Nobody knows it.
    return undefined;
  }
}
