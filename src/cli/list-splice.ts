import { isDeepStrictEqual } from 'node:util';
import { diffArrays } from 'diff';

export interface Range {
  readonly start: number;
  readonly end: number;
}

/** New text for a range of a text. */
export interface ListEdit extends Range {
  readonly text: string;
}

/** A text with edits that do not overlap. */
export const edited = (text: string, edits: readonly ListEdit[]): string =>
  edits
    .toSorted((a, b) => b.start - a.start)
    .reduce((so, edit) => so.slice(0, edit.start) + edit.text + so.slice(edit.end), text);

export const lineEndOf = (text: string): string => /\r?\n/.exec(text)?.[0] ?? '\n';

/** Makes one list out of another; places are those of the first. */
export type SpliceStep =
  | { readonly type: 'replace'; readonly at: number; readonly value: unknown }
  | { readonly type: 'add'; readonly after: number; readonly values: readonly unknown[] }
  | { readonly type: 'remove'; readonly at: number; readonly count: number };

export function stepsBetween(before: readonly unknown[], after: readonly unknown[]): SpliceStep[] {
  const steps: SpliceStep[] = [];
  let at = 0;
  let gone = 0;
  let come: unknown[] = [];
  const finish = () => {
    const both = Math.min(gone, come.length);
    for (const [index, value] of come.slice(0, both).entries())
      steps.push({ type: 'replace', at: at + index, value });
    if (come.length > both) steps.push({ type: 'add', after: at + both - 1, values: come.slice(both) });
    if (gone > both) steps.push({ type: 'remove', at: at + both, count: gone - both });
    at += gone;
    [gone, come] = [0, []];
  };
  for (const { added, removed, value } of diffArrays([...before], [...after], {
    comparator: isDeepStrictEqual,
  })) {
    if (removed) gone += value.length;
    else if (added) come = [...come, ...value];
    else {
      finish();
      at += value.length;
    }
  }
  finish();
  return steps;
}

/** Edits of a list with commas between its items, as JSON, TOML and YAML's flow style have it. */
export function commaEdits(
  text: string,
  items: readonly Range[],
  steps: readonly SpliceStep[],
  spell: (value: unknown) => string,
): ListEdit[] {
  const gap = text.slice(items[0]?.end, items[1]?.start);
  const between = items.length > 1 && /^\s*,\s*$/.test(gap) ? gap : ', ';
  return steps.flatMap((step): ListEdit[] => {
    if (step.type === 'remove') return removeItems(text, items, step.at, step.count);
    const item = items[step.type === 'replace' ? step.at : Math.max(step.after, 0)];
    if (item === undefined) throw new RangeError('a list without items is replaced as a whole');
    if (step.type === 'replace') return [{ ...item, text: spell(step.value) }];
    const added = step.values.map(spell);
    return step.after < 0
      ? [{ start: item.start, end: item.start, text: added.map((one) => one + between).join('') }]
      : [{ start: item.end, end: item.end, text: added.map((one) => between + one).join('') }];
  });
}

/**
 * Takes items out of such a list, with the comma that is one too many then, and the line that they leave
 * empty.
 */
export function removeItems(text: string, items: readonly Range[], at: number, count = 1): ListEdit[] {
  const [previous, first, last] = [items[at - 1], items[at], items[at + count - 1]];
  if (first === undefined || last === undefined) return [];
  const comma = /^\s*,/.exec(text.slice(last.end))?.[0];
  const end = last.end + (comma?.length ?? 0);
  const before = text.slice(0, first.start);
  const line = before.slice(before.trimEnd().lastIndexOf('\n') + 1);
  // What follows on this line must not end in a comment of the line above.
  const isLastOfLine = /^[ \t]*(?:\r?\n|$)/.test(text.slice(end));
  const keepsLine = !isLastOfLine && /\/\/|#/.test(line);
  const start = keepsLine ? first.start : before.trimEnd().length;
  const edits = [{ start, end, text: '' }];
  const extra = comma === undefined && previous ? /^\s*,/.exec(text.slice(previous.end))?.[0] : undefined;
  if (previous === undefined || extra === undefined) return edits;
  return [...edits, { start: previous.end + extra.length - 1, end: previous.end + extra.length, text: '' }];
}
