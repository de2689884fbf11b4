/** What the beginning of a line of Markdown is, and how many characters of it that takes. */
export type Start =
  | {
      readonly kind: 'blank' | 'quote' | 'heading' | 'row' | 'text' | 'code' | 'rule';
      readonly length: number;
    }
  | { readonly kind: 'bullet' | 'number' | 'task'; readonly length: number; readonly marker: string }
  | { readonly kind: 'fence'; readonly length: number; readonly marker: string; readonly info: string };

/** What stands before the line. */
export interface Context {
  /** Columns that an indented line needs to be code; undefined where none is: in a paragraph. */
  readonly codeFrom: number | undefined;
  /** It is the text of a list item. */
  readonly item: boolean;
  /** A table may begin here. */
  readonly table: boolean;
}

/** A line that is no construct within so many characters is text. */
const longest = 300;

/**
 * Says how a line begins; undefined when that depends on what comes next. `ended`: the line is complete. The answer
 * does not depend on how much of the line has come: only on whether it is enough.
 */
export function startOf(line: string, ended: boolean, context: Context): Start | undefined {
  const text = line.slice(0, longest + 1);
  const complete = ended && text.length <= longest;
  const open = !ended && text.length <= longest;
  const indent = /^[ \t]*/.exec(text)?.[0] ?? '';
  const rest = text.slice(indent.length);
  if (rest === '' && (open || complete)) return complete ? { kind: 'blank', length: text.length } : undefined;
  if (context.codeFrom !== undefined && columnsOf(indent) >= context.codeFrom)
    return { kind: 'code', length: 0 };

  const found = marked(rest, { open, complete }, context);
  if (found === 'open') return undefined;
  return found ? { ...found, length: indent.length + found.length } : { kind: 'text', length: 0 };
}

/** A tab is counted as four. */
export const columnsOf = (indent: string): number => indent.replaceAll('\t', '    ').length;

/** `text` does not begin with a space. */
function marked(
  text: string,
  come: { open: boolean; complete: boolean },
  context: Context,
): Start | 'open' | undefined {
  if (text.startsWith('>'))
    return text.length === 1 && come.open
      ? 'open'
      : { kind: 'quote', length: /^> ?/.exec(text)?.[0].length ?? 1 };
  if (text.startsWith('|') && context.table) return { kind: 'row', length: 0 };

  const task = context.item && /^\[([ xX])\](?=[ \t])/.exec(text);
  if (task) return { kind: 'task', length: 3, marker: task[1] === ' ' ? '☐' : '☑' };
  if (context.item && come.open && /^\[(?:[ xX]\]?)?$/.test(text)) return 'open';

  const heading = /^#{1,6}(?:[ \t]+|$)/.exec(text)?.[0];
  if (heading !== undefined && (come.complete || /\S/.test(text.slice(heading.length))))
    return { kind: 'heading', length: heading.length };
  if (heading !== undefined && come.open) return 'open';

  const fence = /^(`{3,}(?=[^`]*$)|~{3,})(.*)$/s.exec(text);
  if (fence && come.complete)
    return { kind: 'fence', length: text.length, marker: fence[1] ?? '', info: (fence[2] ?? '').trim() };
  if (come.open && (fence || /^(?:`{1,3}|~{1,3})$/.test(text))) return 'open';

  const rule = /^([-*_])(?:[ \t]*\1)*[ \t]*$/.test(text);
  if (rule && come.open) return 'open';
  if (rule && come.complete && text.replaceAll(/[ \t]/g, '').length > 2)
    return { kind: 'rule', length: text.length };

  const item = /^([-*+]|\d{1,9}[.)])(?:[ \t]|$)/.exec(text);
  if (item && (come.complete || /[ \t]$/.test(item[0])))
    return {
      kind: /\d/.test(text[0] ?? '') ? 'number' : 'bullet',
      length: item[0].length,
      marker: item[1] ?? '',
    };
  if (come.open && /^(?:\+|\d{1,9}[.)]?)$/.test(text)) return 'open';
  return undefined;
}
