import type { GlobPattern } from '../listing/glob-pattern.ts';

interface Scope {
  readonly hidden: boolean;
  readonly ignored: boolean;
  readonly pattern?: GlobPattern | undefined;
  /** A file type that ripgrep knows. */
  readonly type?: string | undefined;
}

/** The arguments by which ripgrep chooses files. */
export function scopeOf({ hidden, ignored, pattern, type }: Scope): string[] {
  // Types add up, so names can only be chosen by one of the two; the pattern is then applied to what was found.
  const names = type === undefined ? (pattern?.names ?? []) : [];
  return [
    // The folder of git's own files is nobody's hidden file.
    ...(hidden || pattern?.hidden ? ['--hidden', '--glob=!.git'] : []),
    ...(ignored ? ['--no-ignore'] : []),
    ...(type === undefined ? [] : [`--type=${type}`]),
    ...names.map((name) => `--type-add=wanted:${name}`),
    ...(names.length > 0 ? ['--type=wanted'] : []),
    ...(pattern?.depth === undefined ? [] : [`--max-depth=${pattern.depth}`]),
  ];
}

/** A path that ripgrep printed, as it lies below the searched folder, with `/` between names. */
export function printedPath(printed: string): string {
  const path = process.platform === 'win32' ? printed.replaceAll('\\', '/') : printed;
  return path.startsWith('./') ? path.slice(2) : path;
}

/** Whether a file has a name with a dot, which a type by which ripgrep chooses brings back. */
export const isDotFile = (path: string): boolean => path.charAt(path.lastIndexOf('/') + 1) === '.';
