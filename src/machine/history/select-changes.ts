import { isInside } from '../paths/inside.ts';
import type { Change } from './entry.ts';
import { gone } from './failures.ts';
import type { Log } from './log.ts';

/** Which changes are meant: the last ones, all since one and it as well, or all that can be taken back. */
export interface Selection {
  readonly last?: number | undefined;
  readonly since?: string | undefined;
  /** Only these real paths, or what is below them; all when empty. */
  readonly paths: readonly string[];
}

/** A change, and where it is kept. */
export interface Logged {
  readonly log: Log;
  readonly change: Change;
}

/**
 * The changes with all their paths in the roots that a selection could mean, newest first. `last` is about what was
 * changed, not about what took it back; `since` goes back to how things were, so neither a change nor the undo of it is
 * taken back when both are meant. Which paths a command has changed is not looked at. Throws NOT_FOUND for an id that
 * is none.
 */
export function selectIn(
  logs: readonly Log[],
  { last, since, paths }: Selection,
  roots: readonly string[],
): Logged[] {
  const all = logs
    .flatMap((log) => log.changes().map((change) => ({ log, change })))
    .filter(({ change: { path, to = path } }) =>
      [path, to].every((each) => roots.some((root) => isInside(each, root))),
    );
  // Those of one root are in the order they were made in, whatever the clock said.
  if (logs.length > 1) all.sort((a, b) => a.change.at - b.change.at);
  const from = since === undefined ? 0 : all.findIndex(({ change }) => change.id === since);
  if (from < 0) throw gone(since);
  const range = all.slice(from).toReversed();
  const ids = new Set(range.map(({ change }) => change.id));
  // Whoever takes one back comes after it, and counts unless it was taken back itself.
  const undone = new Set<string>();
  return range.filter(({ change: { id, kind, undoes = '', part, path, to = path, states } }) => {
    if (undone.has(id)) return false;
    if (!part) undone.add(undoes);
    const isMeant = last === undefined ? since === undefined || !ids.has(undoes) : kind !== 'undo';
    return isMeant && (states !== undefined || isConcerned(path, paths) || isConcerned(to, paths));
  });
}

/** Whether a path is, or lies in, one of those that are asked for. */
export const isConcerned = (path: string, paths: readonly string[]): boolean =>
  paths.length === 0 || paths.some((each) => isInside(path, each));
