import { lstatSync } from 'node:fs';
import { join } from 'node:path';
import { ToolcribError } from '../../core/errors.ts';
import { changeOf, type Change, type Entry, type Facts } from './change.ts';
import type { ChangeKit } from './change-kit.ts';
import { tooLarge } from './existing-file.ts';
import { factsAt } from './facts.ts';
import { isInside } from '../paths/inside.ts';
import { lookOnceMore } from './last-look.ts';
import type { Place } from '../paths/place.ts';
import { refuseMoving } from '../paths/protected-trees.ts';
import { relocate } from './relocate.ts';
import { codeOf } from '../paths/real-path.ts';
import { shownPath } from '../paths/shown-path.ts';
import type { About } from './write-change.ts';
import { unwritable } from './write-failure.ts';

/** May look at what is there while it is locked; throwing leaves it there. */
export type Look = (found: Facts) => void | Promise<void>;

/** Something that moves: into the journal (no `to`), out of it (no `from`), or from place to place. */
export interface Move {
  readonly from?: Place;
  readonly to?: Place;
  readonly about: About;
  readonly look?: Look;
}

/**
 * Moves a file, link or folder, and never onto something. Throws PATH_NOT_FOUND, PATH_EXISTS, PATH_DENIED, STALE_FILE,
 * PATH_PROTECTED for a folder that the journal is in and for what `refuseMoving` refuses, TOO_LARGE for what the journal
 * does not take, NOT_FOUND for what it no longer has, and WRITE_FAILED; then nothing has changed.
 */
export async function relocateChange(kit: ChangeKit, { from, to, about, look }: Move): Promise<Change> {
  const places = [from, to].filter((place) => place !== undefined);
  const shown = (from ?? to)?.path ?? '';
  const { journal, locks } = kit;
  if (from && isInside(journal.folder, from.path)) throw holdsJournal(from.path);
  if (from && to && from.path !== to.path && isInside(to.path, from.path)) throw intoItself(from.path);
  return locks.hold({ paths: places.map(({ path }) => path), signal: about.signal }, async (working) => {
    const minted = journal.mint();
    try {
      for (const place of places) lookOnceMore(place);
      const old = from?.at ?? journal.trashOf(about.undoes ?? '');
      const found = await factsAt(old);
      if (!found) throw from ? unwritable(from.path, { code: 'ENOENT' }) : gone(about);
      if (!to && found.size > kit.limits.quotaBytes) throw tooLarge(shown, found.size, kit.limits.quotaBytes);
      await look?.(found);
      if (from && to) await refuseMovingTo(from, { kind: found.kind, to: to.path, signal: about.signal });
      if (to && !isSamePlace(from, to) && lstatSync(to.at, { throwIfNoEntry: false }))
        throw unwritable(to.path, { code: 'EEXIST' });
      const temporary = kit.temporaryName();
      const entry: Entry = {
        ...minted,
        kind: about.kind,
        step: !to ? 'remove' : from ? 'move' : 'restore',
        path: (from ?? to)?.path ?? '',
        ...(from && to && { to: to.path }),
        ...(from && { before: found }),
        ...(to && { after: found }),
        ...(about.undoes !== undefined && { undoes: about.undoes }),
        ...(to && to.made.length > 0 && { made: to.made }),
        temporary,
      };
      const beside = (place: Place | undefined) =>
        place ? join(place.folder.stablePath, temporary) : journal.trashOf(temporary);
      const ends = {
        from: old,
        to: to?.at ?? journal.trashOf(minted.id),
        temporary: beside(to),
        aside: beside(from),
      };
      working.begin(entry);
      try {
        for (const place of places) lookOnceMore(place);
        await relocate({
          ...ends,
          shown,
          copied(copy) {
            if (to) lookOnceMore(to);
            working.begin({ ...entry, copy });
          },
        });
      } catch (error) {
        working.drop();
        throw codeOfSystem(error) === 'EEXIST' && to ? unwritable(to.path, error) : error;
      }
      if (from && to && found.kind === 'folder' && locks.hasOthers()) {
        // Another process may have put something in between the look and the move. From now on it finds the folder gone.
        const late = await refuseMovingTo(
          { at: to.at, path: from.path },
          { kind: 'folder', to: to.path },
        ).catch((error: unknown) => error);
        if (late !== undefined) {
          const { from: to, to: from, temporary: aside, aside: temporary } = ends;
          await relocate({ from, to, temporary, aside, shown, copied: () => {} });
          working.drop();
          throw late;
        }
      }
      working.done();
      await journal.passed(minted.at);
      return changeOf(entry);
    } catch (error) {
      throw unwritable(shown, error);
    }
  });
}

interface MoveTo {
  /** Its kind, as found by who asks. */
  readonly kind: Facts['kind'];
  readonly to: string;
  readonly given?: string;
  readonly signal?: AbortSignal | undefined;
}

/** Throws what `refuseMoving` throws; a file may be at any place that could be opened. */
export async function refuseMovingTo(
  { at, path }: Pick<Place, 'at' | 'path'>,
  { kind, to, given = path, signal }: MoveTo,
): Promise<void> {
  if (kind === 'folder' || kind === 'link')
    await refuseMoving({ at, path, given }, { to, isLink: kind === 'link', signal });
}

const codeOfSystem = (error: unknown): string | undefined =>
  error instanceof ToolcribError ? undefined : codeOf(error);

/** Another spelling of the same name, where case does not count. */
const isSamePlace = (from: Place | undefined, to: Place): boolean =>
  from?.path.toLowerCase() === to.path.toLowerCase();

const holdsJournal = (path: string): ToolcribError =>
  new ToolcribError(
    'PATH_PROTECTED',
    `${shownPath(path)}: the journal of changes is in it, so it can be neither moved nor removed.`,
  );

const intoItself = (path: string): ToolcribError =>
  new ToolcribError('ARG_INVALID', `${shownPath(path)}: cannot be moved into itself.`);

export const gone = ({ undoes }: Pick<About, 'undoes'>): ToolcribError =>
  new ToolcribError(
    'NOT_FOUND',
    `${undoes ?? 'The change'}: there is no such change, or it is no longer kept.`,
    'list_changes shows those that can be undone.',
  );
