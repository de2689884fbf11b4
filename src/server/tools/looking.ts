import { realpath } from 'node:fs/promises';
import { isInside } from '../../machine/paths/inside.ts';

/** Programs that print what they read, or what is there, and the options with which they do no more. */
const looking: Readonly<Record<string, (args: readonly string[]) => boolean>> = {
  ...Object.fromEntries(
    'basename cat cmp cut dirname echo false head ls nl pwd realpath sleep stat tail tr true'
      .split(' ')
      .map((name) => [name, () => true]),
  ),
  // Others start a program, delete or write, or follow links.
  find: none(
    /^[-(!](?!(?:type|i?name|i?path|m(?:ax|in)depth|m(?:time|min)|newer|size|empty|not|o|a|print)?$)/,
  ),
  // Its language can write files and run programs: lines by their numbers only.
  sed: ([quiet, lines = '', ...rest]) =>
    quiet === '-n' && /^\d+(?:,(?:\d+|\$))?p$/.test(lines) && !rest.some((arg) => arg.startsWith('-')),
  // A list of files could name any file. Long options may be cut: --de is --dereference-recursive.
  ...Object.fromEntries('du wc'.split(' ').map((name) => [name, none(/^--f/)])),
  // With -R it would follow links that lead anywhere.
  ...Object.fromEntries('egrep fgrep grep'.split(' ').map((name) => [name, none(/^-\w*R|^--de/)])),
  // Others write a file, or start a program.
  sort: none(/^-(?!(?:[bcdfghimnrsuzMRV]+|k[\w.,]*|t.?)$)/),
  // Its second file is written.
  uniq: none(/^(?!-[cdiuzD]+$)/),
};

function none(pattern: RegExp): (args: readonly string[]) => boolean {
  return (args) => !args.some((arg) => pattern.test(arg));
}

/**
 * Whether a program of the machine only shows what is in these places, all inside the roots. `isFree`: no file there is
 * kept from being read.
 */
export async function onlyLooks(
  name: string,
  args: readonly string[],
  { inside, leadsOut }: { readonly inside: readonly string[]; readonly leadsOut: boolean },
  { roots, isFree }: { readonly roots: readonly string[]; readonly isFree: boolean },
): Promise<boolean> {
  if (!Object.hasOwn(looking, name) || looking[name]?.(args) !== true || leadsOut) return false;
  const real = await Promise.all(inside.map((path) => realpath(path).catch(() => path)));
  const stays = real.every((path) => roots.some((root) => isInside(path, root)));
  // Without a file grep may look into the whole folder.
  const opens = inside.length > 0 || name.endsWith('grep');
  return stays && (isFree || !opens);
}
