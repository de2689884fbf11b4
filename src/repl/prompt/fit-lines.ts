import { estimateTokens, firstTokens } from '../context/tokens.ts';

export interface Fitted {
  readonly text: string;
  /** How much of the text that is, in words; undefined when it is all of it. */
  readonly part?: string;
}

/** As many whole lines of the beginning as fit a number of tokens; of a line that alone is too long, its beginning. */
export function fitLines(text: string, tokens: number): Fitted {
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
