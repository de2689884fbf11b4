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
