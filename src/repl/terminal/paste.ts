import { Transform } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';
import { inert } from '../text/inert.ts';

/** What a terminal puts around a paste when bracketed paste (DEC 2004) is on. */
const begin = '\x1b[200~';
const end = '\x1b[201~';
/** UTF-16 units that are kept of one paste; more is no message to a model. */
const mostUnits = 8 * 1024 * 1024;
/** A longer line is collapsed: readline measures the whole line with each character, and nobody reads so much of it. */
const longestLine = 1000;
/** How long the first bytes of a marker are held back: a lone Escape key looks the same. */
const markerMs = 50;
/** A paste that brings nothing for so long has lost its end; keys would be swallowed for ever. */
const stalledMs = 5000;

/** The pastes of a session that stand as one short tag in the line that is edited. */
export interface Pastes {
  /** What is typed in place of a paste: the paste itself, or a tag. */
  collapse(pasted: string, cut?: boolean): string;
  /** Puts the pastes in place of their tags; what looks like a tag and is none stays as it is. */
  expand(line: string): string;
  /** The tag that a text ends with; or its last character, if that was pasted and is a marked one. */
  tagAtEnd(text: string): string | undefined;
}

export function openPastes(): Pastes {
  const texts = new Map<string, string>();
  return {
    collapse(pasted, cut = false) {
      const text = typable(pasted);
      const line = text.replace(/\n+$/, '');
      // A tab would be the completion key; readline of Node 26 takes U+2028 and U+2029 for Enter.
      if (!cut && line.length <= longestLine && !/[\n\t\u2028\u2029]/.test(line)) return line;
      const lines = line.split('\n').length;
      const size = lines > 1 ? `${lines} lines` : `${text.length} characters`;
      const tag = `[Pasted #${texts.size + 1}: ${size}${cut ? ', the rest cut off' : ''}]`;
      texts.set(tag, text);
      return tag;
    },
    expand: (line) => line.replace(/\[Pasted #[^\]]*\]/g, (tag) => texts.get(tag) ?? tag),
    tagAtEnd(text) {
      // With its mark, which nobody sees.
      if (inert('@') === text.slice(-2)) return inert('@');
      const tag = /\[Pasted #[^\]]*\]$/.exec(text)?.[0];
      return tag !== undefined && texts.has(tag) ? tag : undefined;
    },
  };
}

/** What of a text a person could have typed: no escape sequences, no control characters but line ends and tabs. */
export const typable = (text: string): string =>
  text
    .replace(/\r\n?/g, '\n')
    .replace(/\x1b\[[0-?]*[ -/]*[@-~]/g, '')
    .replace(/[\x00-\x08\x0b-\x1f\x7f-\x9f]/g, '');

/**
 * Hands on what is typed; what is pasted goes to `collapse`, and its answer is typed instead. Without this, readline
 * submits one line for each line of a paste. A marker may be split at any byte.
 */
export function pasteFilter(collapse: (text: string, cut: boolean) => string): Transform {
  const decoder = new StringDecoder('utf8');
  let held = '';
  let paste: { pieces: string[]; room: number } | undefined;
  let timer: NodeJS.Timeout | undefined;

  const collapsed = (): string => {
    const { pieces, room } = paste ?? { pieces: [], room: 0 };
    paste = undefined;
    return collapse(pieces.join(''), room < 0);
  };
  /** Takes text and returns what of it goes on. */
  const take = (text: string): string => {
    let out = '';
    let rest = held + text;
    held = '';
    while (rest !== '') {
      const marker = paste ? end : begin;
      const at = rest.indexOf(marker);
      const before = rest.slice(0, at < 0 ? rest.length - startOf(marker, rest) : at);
      if (!paste) out += before;
      else {
        if (paste.room > 0) paste.pieces.push(before.slice(0, paste.room));
        paste.room -= before.length;
      }
      if (at < 0) {
        held = rest.slice(before.length);
        break;
      }
      rest = rest.slice(at + marker.length);
      if (paste) out += collapsed();
      else paste = { pieces: [], room: mostUnits };
    }
    return out;
  };
  /** What was held back, when nothing comes that would make it a marker. */
  const giveUp = (): string => {
    const rest = paste ? collapsed() : held;
    held = '';
    return rest;
  };

  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      clearTimeout(timer);
      const out = take(decoder.write(chunk));
      if (paste || held !== '') timer = setTimeout(() => this.push(giveUp()), paste ? stalledMs : markerMs);
      done(null, out === '' ? undefined : out);
    },
    flush(done) {
      clearTimeout(timer);
      done(null, giveUp());
    },
  });
}

/** How many characters at the end of a text a marker may begin with. */
function startOf(marker: string, text: string): number {
  for (let length = Math.min(marker.length - 1, text.length); length > 0; length--) {
    if (text.endsWith(marker.slice(0, length))) return length;
  }
  return 0;
}
