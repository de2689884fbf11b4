export interface FenceWatch {
  /** Takes the next character of the text. */
  next(char: string): void;
  /** Nothing but blanks has come on this line. */
  readonly atLineStart: boolean;
  /** Within a Markdown code fence, its first line included. */
  readonly inFence: boolean;
}

/** Follows streamed Markdown, one character at a time, so that tags in a code fence are taken for text. */
export function createFenceWatch(): FenceWatch {
  /** What closes the open fence: this many of one character, or more. */
  let fence: { readonly mark: string; readonly length: number } | undefined;
  /** The open fence was opened on this line. */
  let opening = false;
  /** The run of marks this line begins with, and whether something else has come. */
  let mark = '';
  let length = 0;
  let other = false;

  return {
    next(char) {
      if (char === '\n') {
        if (fence && !opening && !other && mark === fence.mark && length >= fence.length) fence = undefined;
        mark = '';
        length = 0;
        other = false;
        opening = false;
      } else if (!other && (length === 0 ? char === '`' || char === '~' : char === mark)) {
        mark = char;
        length++;
        if (!fence && length === 3) opening = true;
        if (opening) fence = { mark, length };
      } else if (opening && char === '`' && mark === '`') {
        // ```code``` on one line is no fence.
        fence = undefined;
        opening = false;
      } else if (char.trim() !== '') {
        other = true;
      }
    },
    get atLineStart() {
      return length === 0 && !other;
    },
    get inFence() {
      return fence !== undefined;
    },
  };
}
