/** As much of a line as is looked at: what opens or closes a fence stands at its beginning. */
const mostLine = 300;

/** Follows streamed Markdown, one character at a time, so that tags in a code fence are taken for text. */
export function createFenceWatch() {
  let line = '';
  /** What opened the fence we are in. */
  let fence = '';

  return {
    next(char: string): void {
      if (char !== '\n') {
        if (line.length < mostLine) line += char;
        return;
      }
      if (fence === '') fence = opening(line);
      else if (/^\s*(`+|~+)\s*$/.exec(line)?.[1]?.startsWith(fence)) fence = '';
      line = '';
    },
    /** Nothing but blanks has come on this line. */
    atLineStart: (): boolean => line.trim() === '',
    /** Within a fence, its first line included. */
    inFence: (): boolean => fence !== '' || opening(line) !== '',
  };
}

/** The marks a line opens a fence with; ```code``` on one line is none. */
const opening = (line: string): string => /^\s*(~{3,}|`{3,}(?=[^`]*$))/.exec(line)?.[1] ?? '';
