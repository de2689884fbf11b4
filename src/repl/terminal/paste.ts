/**
 * A longer line is collapsed: readline measures the whole line with each character, and nobody reads so much
 * of it.
 */
const longestLine = 1000;

/** The pastes of a session that stand as one short tag in the line that is edited. */
export function openPastes() {
  const texts = new Map<string, string>();
  return {
    /** Returns what is typed in place of a paste: the paste itself, or a tag. */
    collapse(pasted: string): string {
      const text = typable(pasted);
      const line = text.replace(/\n+$/, '');
      // readline of Node 26 takes U+2028 and U+2029 for Enter.
      if (line.length <= longestLine && !/[\n\t\u2028\u2029]/.test(line)) return line;
      const lines = line.split('\n').length;
      const size = lines > 1 ? `${lines} lines` : `${text.length} characters`;
      const tag = `[Pasted #${texts.size + 1}: ${size}]`;
      texts.set(tag, text);
      return tag;
    },
    /** Puts the pastes in place of their tags; what looks like a tag and is none stays as it is. */
    expand: (line: string): string => line.replace(/\[Pasted #[^\]]*\]/g, (tag) => texts.get(tag) ?? tag),
    /** The tag that a text ends with; or its last character, if that was pasted and is a marked one. */
    tagAtEnd(text: string): string | undefined {
      // With its mark, which nobody sees.
      if (inert('@') === text.slice(-2)) return inert('@');
      const tag = /\[Pasted #[^\]]*\]$/.exec(text)?.[0];
      return tag !== undefined && texts.has(tag) ? tag : undefined;
    },
  };
}

/**
 * Keeps of a text what a person could have typed: no escape sequences, no control characters but line ends
 * and tabs.
 */
export const typable = (text: string): string =>
  text
    .replace(/\r\n?/g, '\n')
    .replace(/\x1b\[[0-?]*[ -/]*[@-~]/g, '')
    .replace(/[\x00-\x08\x0b-\x1f\x7f-\x9f]/g, '');

/**
 * The mark of text that somebody else wrote. Nobody sees it. It stands in the text itself, so that it goes
 * wherever that goes: the history, the queue, an editor.
 */
const mark = '\ufe0e';

/** Text that somebody else wrote: no @ of it names anything. */
export const inert = (text: string): string => live(text).replaceAll('@', `@${mark}`);

/** The text as it was before. */
export const live = (text: string): string => text.replaceAll(`@${mark}`, '@');
