import { isDeepStrictEqual } from 'node:util';
import { diffArrays } from 'diff';

export interface Range {
  readonly start: number;
  readonly end: number;
}

/** A new text for a range of a text. */
export interface ListEdit extends Range {
  readonly text: string;
}

/** Applies edits that do not overlap to a text. */
export function edited(text: string, edits: readonly ListEdit[]): string {
  let result = text;
  for (const edit of edits.toSorted((a, b) => b.start - a.start))
    result = result.slice(0, edit.start) + edit.text + result.slice(edit.end);
  return result;
}

export const lineEndOf = (text: string): string => /\r?\n/.exec(text)?.[0] ?? '\n';

/** A step that turns one list into another; positions are those of the first list. */
export type SpliceStep =
  | { readonly type: 'replace'; readonly at: number; readonly value: unknown }
  | { readonly type: 'add'; readonly after: number; readonly values: readonly unknown[] }
  | { readonly type: 'remove'; readonly at: number; readonly count: number };

export function stepsBetween(before: readonly unknown[], after: readonly unknown[]): SpliceStep[] {
  const steps: SpliceStep[] = [];
  let at = 0;
  let deletions = 0;
  let additions: unknown[] = [];
  const finish = () => {
    const both = Math.min(deletions, additions.length);
    for (const [index, value] of additions.slice(0, both).entries())
      steps.push({ type: 'replace', at: at + index, value });
    if (additions.length > both)
      steps.push({ type: 'add', after: at + both - 1, values: additions.slice(both) });
    if (deletions > both) steps.push({ type: 'remove', at: at + both, count: deletions - both });
    at += deletions;
    deletions = 0;
    additions = [];
  };
  for (const { added, removed, value } of diffArrays([...before], [...after], {
    comparator: isDeepStrictEqual,
  })) {
    if (removed) deletions += value.length;
    else if (added) additions = [...additions, ...value];
    else {
      finish();
      at += value.length;
    }
  }
  finish();
  return steps;
}

/** Edits a list with commas between its items, as in JSON, TOML and YAML's flow style. */
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
      ? [{ start: item.start, end: item.start, text: added.map((item) => item + between).join('') }]
      : [{ start: item.end, end: item.end, text: added.map((item) => between + item).join('') }];
  });
}

/**
 * Removes items from such a list, with the comma that is then superfluous and the line that they leave empty.
 */
export function removeItems(text: string, items: readonly Range[], at: number, count = 1): ListEdit[] {
  const previous = items[at - 1];
  const first = items[at];
  const last = items[at + count - 1];
  if (first === undefined || last === undefined) return [];
  const comma = /^\s*,/.exec(text.slice(last.end))?.[0];
  const end = last.end + (comma?.length ?? 0);
  const before = text.slice(0, first.start);
  const line = before.slice(before.trimEnd().lastIndexOf('\n') + 1);
  // Text that follows on this line must not end up in a comment of the line above.
  const isLastOfLine = /^[ \t]*(?:\r?\n|$)/.test(text.slice(end));
  const keepsLine = !isLastOfLine && /\/\/|#/.test(line);
  const start = keepsLine ? first.start : before.trimEnd().length;
  const edits = [{ start, end, text: '' }];
  const extra = comma === undefined && previous ? /^\s*,/.exec(text.slice(previous.end))?.[0] : undefined;
  if (previous === undefined || extra === undefined) return edits;
  return [...edits, { start: previous.end + extra.length - 1, end: previous.end + extra.length, text: '' }];
}
