import { homedir } from 'node:os';
import { resolve, sep } from 'node:path';
import * as z from 'zod';
import { ToolcribError } from '../../core/errors.ts';
import type { CallContext, Plan, PlanContext, ToolResult } from '../../core/tool.ts';
import type { Before } from '../../machine/history/existing-file.ts';
import { mostChangedBytes, type Written } from '../../machine/history/write.ts';
import { removeMade, type Place } from '../../machine/paths/place.ts';
import { shownPath } from '../../machine/paths/shown-path.ts';
import { rooted } from '../../machine/paths/workspace.ts';
import { nameInRoots } from '../name-in-roots.ts';
import { planChange, type DryRun } from '../plan-change.ts';
import { readBefore } from './read-before.ts';
import { refuseStale } from './refuse-stale.ts';
import type { Services } from '../services.ts';
import { versionOf } from '../unchanged.ts';
import type { UnifiedDiff } from '../diff/unified-diff.ts';

/** For callers that have read the file through another server: `toolcrib call`, or one before this. */
export const versionParam = z.string().max(100).optional().describe('What `toolcrib call read_file` printed');

interface Given {
  readonly path: string;
  readonly encoding?: string | undefined;
  readonly version?: string | undefined;
  readonly dry_run: boolean;
}

interface How<Context = CallContext> {
  readonly context: Context;
  readonly services: Services;
  readonly kind: 'edit' | 'write';
}

/** What a file is to be. */
interface Proposal {
  readonly bytes: Buffer;
  readonly encoding: string;
  readonly notes: readonly string[];
  readonly diff: UnifiedDiff;
}

export type Propose = (before: Buffer | undefined, encoding: string | undefined) => Promise<Proposal>;

/** What changing one file would come to. Throws what the gate throws, and what the dry run does where one is made. */
export function planFile<G extends Given>(
  given: G,
  how: How<PlanContext>,
  propose: Propose,
): Promise<Plan<G>> {
  const { context, services, kind } = how;
  if (kind === 'write') refuseFolderName(given.path);
  const proposeFor: ProposeFor = (path, before) => proposal({ given, path, before, services, propose });
  const dryRun = () => dryRunOf(given, how, proposeFor);
  return planChange({ verb: kind, given, paths: [given.path], dryRun }, context);
}

/**
 * Changes one file that has been read, or makes a new one: proposed, checked, replaced in one step, journaled, and shown
 * as a diff. Throws what the gate, the precondition and the proposal throw; then nothing has changed.
 */
export async function changeFile(given: Given, how: How, propose: Propose): Promise<ToolResult> {
  const { services } = how;
  const proposeFor: ProposeFor = (path, before) => proposal({ given, path, before, services, propose });
  return given.dry_run ? (await dryRunOf(given, how, proposeFor)).result : change(given, how, proposeFor);
}

async function change(given: Given, { context, services, kind }: How, proposeFor: ProposeFor) {
  const place = await rooted(context.workspace).openPlace(given.path, { make: kind === 'write' });
  try {
    let proposed: Proposal | undefined;
    const history = await services.history();
    const written = await history.write(
      place,
      async (before) => {
        const { fresh, ...next } = await proposeFor(place.path, before);
        proposed = next;
        return {
          bytes: next.bytes,
          fresh,
          added: next.diff.added,
          removed: next.diff.removed,
          // Before the next caller in the queue is asked whether it has read what is there now.
          done: (made) => remember(place.path, next, made, services),
        };
      },
      { kind, signal: context.signal },
    );
    if (!proposed) throw new Error('a change was not decided');
    if (!written) return text(`${unchanged(given.path)}${sentences(proposed.notes)}`);
    const done = kind === 'edit' ? 'Edited' : 'Wrote';
    const first = headline(done, given.path, proposed.diff, written.change.before === undefined);
    const notes = sentences([...linkNote(place, given, context), ...proposed.notes, ...written.notes]);
    return text(`${first} (change ${written.change.id})${notes}\n${proposed.diff.text}`);
  } catch (error) {
    await removeMade(place.made);
    throw error;
  } finally {
    await place.folder.handle.close();
  }
}

/** Before a dry run, which makes nothing that could show it. */
function refuseFolderName(path: string): void {
  if (!path.endsWith('/') && !path.endsWith(sep)) return;
  throw new ToolcribError(
    'ARG_INVALID',
    `${shownPath(path)}: ends like a folder.`,
    'Give the whole path, with the name of the file.',
  );
}

interface Proposing {
  readonly given: Given;
  readonly path: string;
  readonly before: Before | undefined;
  readonly services: Services;
  readonly propose: Propose;
}

/** What the file is to be, and a promise that it is still what was read: hashing it need not hold up the rest. */
async function proposal({ given, path, before, services, propose }: Proposing) {
  const fresh = before
    ? refuseStale({ path, shown: given.path, before, version: given.version }, services)
    : Promise.resolve();
  // Somebody waits for it later; until then its failure must not end the process.
  fresh.catch(() => {});
  // That the part which was read is UTF-8 does not say that all of it is.
  const seen = services.known.get(path)?.encoding;
  const encoding = given.encoding ?? (seen === 'utf-8' ? undefined : seen);
  try {
    return { ...(await propose(before?.bytes, encoding)), fresh };
  } catch (error) {
    // That an edit does not fit a file that has changed is the lesser news.
    await fresh;
    throw error;
  }
}

type ProposeFor = (path: string, before: Before | undefined) => Promise<Proposal & { fresh: Promise<void> }>;

async function dryRunOf(
  given: Given,
  { context, kind }: How<PlanContext>,
  proposeFor: ProposeFor,
): Promise<DryRun> {
  const place = await placeFor(given.path, context, kind);
  try {
    const before = place && (await readBefore(given.path, rooted(context.workspace), mostChangedBytes));
    const { fresh, ...proposed } = await proposeFor(place?.path ?? '', before);
    await fresh;
    if (before?.bytes.equals(proposed.bytes))
      return { result: text(`${unchanged(given.path)}${sentences(proposed.notes)}`) };
    const first = headline(`Would ${kind}`, given.path, proposed.diff, before === undefined);
    return {
      result: text(`${first}${sentences(proposed.notes)}\n${proposed.diff.text}`),
      counts: `+${proposed.diff.added} -${proposed.diff.removed}`,
    };
  } finally {
    await place?.folder.handle.close();
  }
}

/** Where a link has led: that is the name by which the change is listed. */
function linkNote({ path }: Place, given: Given, { workspace }: CallContext): string[] {
  const asked = resolve(workspace.home, given.path.replace(/^~(?=\/)/, homedir()));
  return asked === path ? [] : [`the file is ${shownPath(nameInRoots(path, workspace.roots))}`];
}

/** Undefined for a new file whose folder is missing too: a dry run makes none. */
async function placeFor(
  path: string,
  { workspace }: PlanContext,
  kind: How['kind'],
): Promise<Place | undefined> {
  try {
    return await rooted(workspace).openPlace(path);
  } catch (error) {
    if (kind !== 'write' || !(error instanceof ToolcribError) || error.code !== 'PATH_NOT_FOUND') throw error;
    // Throws when it is more than missing folders that is in the way: a file, or links that lead in a circle.
    await workspace.resolve(path);
    return undefined;
  }
}

function remember(path: string, { bytes, encoding }: Proposal, { stat, hash }: Written, { known }: Services) {
  known.remember(path, {
    stat: versionOf(stat),
    hash,
    bytes,
    seenAt: Date.now(),
    ...(encoding === 'utf-8' ? {} : { encoding }),
  });
}

const text = (said: string): ToolResult => ({ content: [{ type: 'text', text: said }] });

const unchanged = (path: string): string => `${shownPath(path)} is like that already; nothing was written.`;

const headline = (done: string, path: string, { added, removed }: UnifiedDiff, isNew: boolean): string =>
  `${done} ${shownPath(path)}${isNew ? ', a new file' : ''}: +${added} -${removed}`;

/** Notes, each of which may or may not be a sentence, behind the first line. */
const sentences = (notes: readonly string[]): string =>
  notes.map((note) => `\n[${note.replace(/\.$/, '')}]`).join('');
