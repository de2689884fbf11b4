import { mask } from './masked.ts';
import type { RunItem } from './look-through.ts';
import type { KeptFile } from './trust-store.ts';

/** What has become of something that decides what runs, since the project was trusted. */
export interface Change {
  /** From the project, with `/`. */
  readonly path: string;
  readonly how: 'added' | 'changed' | 'removed';
  /** What counted of its content then, without passwords; undefined for a new one, and where it was not kept. */
  readonly before?: string;
  /** The same as it is now. */
  readonly after?: string;
}

/** All texts of a project together, in characters. */
const mostText = 1024 * 1024;
/** A project with more of them is hardly one that somebody looks through. */
const mostFiles = 5000;

/** What of the files is kept with the trust in a project: as many texts as fit, those of the folders further up first. */
export function keptFiles(items: readonly RunItem[]): KeptFile[] {
  let left = mostText;
  const depth = ({ path }: RunItem) => path.split('/').length;
  return items
    .toSorted((a, b) => depth(a) - depth(b))
    .slice(0, mostFiles)
    .map(({ path, hash, text }) => {
      if (text === undefined || text.length > left) return { path, hash };
      left -= text.length;
      return { path, hash, text };
    });
}

/** By their paths. Where more files are than are kept, those that were not look new. */
export function changesBetween(before: readonly KeptFile[], now: readonly RunItem[]): Change[] {
  const [then, today] = [byPath(before), byPath(now)];
  const paths = [...new Set([...then.keys(), ...today.keys()])].sort();
  return paths.flatMap((path) => {
    const [old, item] = [then.get(path), today.get(path)];
    if (old?.hash === item?.hash) return [];
    const how = !old ? 'added' : item ? 'changed' : 'removed';
    const after = item?.text === undefined ? undefined : noted(old?.text, item.text);
    return [
      {
        path,
        how,
        ...(old?.text !== undefined && { before: old.text }),
        ...(after !== undefined && { after }),
      } satisfies Change,
    ];
  });
}

/** Texts that look the same although the files differ need a word. */
function noted(before: string | undefined, after: string): string {
  if (before !== after) return after;
  const why = after.includes(mask)
    ? 'a masked value is another'
    : 'whether it is executable, or a link, is another';
  return `${after}${after === '' || after.endsWith('\n') ? '' : '\n'}[${why}]`;
}

const byPath = <T extends { readonly path: string }>(items: readonly T[]): Map<string, T> =>
  new Map(items.map((item) => [item.path, item]));
