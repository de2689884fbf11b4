import { sep } from 'node:path';
import * as z from 'zod';
import { ToolcribError } from '../../core/errors.ts';
import type { CallContext, Plan, PlanContext, ToolResult } from '../../core/tool.ts';
import { readExisting, type Before, type Written } from '../../machine/history/write.ts';
import { removeMade, type Place } from '../../machine/paths/place.ts';
import { shownPath } from '../../machine/paths/shown-path.ts';
import { rooted } from '../../machine/paths/workspace.ts';
import { unifiedDiff, type UnifiedDiff } from '../diff/unified-diff.ts';
import { versionOf } from '../known-files.ts';
import { planChange, type DryRun } from '../plan-change.ts';
import type { Services } from '../services.ts';
import { refuseUnseen } from './overwrite.ts';

/** For callers that have read the file through another server: `toolcrib call`, or one before this. */
export const versionParam = z.string().max(100).optional().describe('What `toolcrib call read_file` printed');

interface Given {
  readonly path: string;
  readonly encoding?: string | undefined;
  readonly version?: string | undefined;
  readonly dry_run: boolean;
}

/** What a file is to be. */
interface Proposal {
  readonly bytes: Buffer;
  readonly encoding: string;
  readonly notes: readonly string[];
}

/** What is made of a file, from what it has now. */
interface FileChange {
  readonly kind: 'edit' | 'write';
  readonly given: Given;
  readonly services: Services;
  propose(before: Buffer | undefined, encoding: string | undefined): Promise<Proposal>;
}

interface Proposed extends Proposal {
  readonly diff: UnifiedDiff;
}

/** What changing one file would come to. Throws what the gate throws, and what the dry run does where one is made. */
export function planFile<G extends Given>(
  change: FileChange & { given: G },
  context: PlanContext,
): Promise<Plan<G>> {
  const { kind, given } = change;
  if (kind === 'write') refuseFolderName(given.path);
  return planChange(
    { verb: kind, given, paths: [given.path], dryRun: () => dryRunOf(change, context) },
    context,
  );
}

/**
 * Changes one file, or makes a new one: proposed, checked, replaced in one step, journaled, and shown as a diff. Throws
 * what the gate, refuseUnseen() and the proposal throw; then nothing has changed.
 */
export async function changeFile(change: FileChange, context: CallContext): Promise<ToolResult> {
  const { kind, given, services } = change;
  if (given.dry_run) return (await dryRunOf(change, context)).result;
  const place = await rooted(context.workspace).openPlace(given.path, { make: kind === 'write' });
  try {
    let proposed: Proposed | undefined;
    const history = await services.history();
    const written = await history.write(
      place,
      async (before) => {
        const next = await proposalFor(change, place.path, before);
        proposed = next;
        return {
          bytes: next.bytes,
          added: next.diff.added,
          removed: next.diff.removed,
          // Before the next caller in the queue is asked whether it has seen what is there now.
          done: (made) => remember(place.path, next, made, services),
        };
      },
      { kind, signal: context.signal },
    );
    if (!proposed) throw new Error('a change was not decided');
    if (!written) return text(`${alreadySo(given.path)}${noteLines(proposed.notes)}`);
    const isNew = written.change.before === undefined;
    const first = headline(kind === 'edit' ? 'Edited' : 'Wrote', given.path, proposed.diff, isNew);
    const notes = noteLines([...proposed.notes, ...written.notes]);
    // Who has just written a new file knows what is in it.
    return text(`${first} (change ${written.change.id})${notes}\n${isNew ? '' : proposed.diff.text}`);
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

async function proposalFor(
  { kind, given, services, propose }: FileChange,
  path: string,
  before: Before | undefined,
): Promise<Proposed> {
  const { path: shown, version } = given;
  const call = () => JSON.stringify([kind, { ...given, dry_run: false }]);
  const check = async () =>
    before && refuseUnseen({ path, shown, before, replacesAll: kind === 'write', call, version }, services);
  // That an edit does not fit a file that has changed is the lesser news.
  if (kind === 'edit') await check();
  // That the part which was read is UTF-8 does not say that all of it is.
  const seen = services.known.get(path)?.encoding;
  const proposal = await propose(before?.bytes, given.encoding ?? (seen === 'utf-8' ? undefined : seen));
  const { bytes, encoding } = proposal;
  // What is there already takes nothing away.
  if (kind === 'write' && !before?.bytes.equals(bytes)) await check();
  return { ...proposal, diff: await unifiedDiff(before?.bytes, bytes, { path: shown, encoding }) };
}

async function dryRunOf(change: FileChange, context: PlanContext): Promise<DryRun> {
  const { kind, given } = change;
  const place = await placeFor(given.path, context, kind);
  try {
    const before = place && readExisting(place);
    const { bytes, notes, diff } = await proposalFor(change, place?.path ?? '', before);
    if (before?.bytes.equals(bytes)) return { result: text(`${alreadySo(given.path)}${noteLines(notes)}`) };
    const first = headline(`Would ${kind}`, given.path, diff, before === undefined);
    return {
      result: text(`${first}${noteLines(notes)}\n${diff.text}`),
      counts: `+${diff.added} -${diff.removed}`,
    };
  } finally {
    await place?.folder.handle.close();
  }
}

/** Undefined for a new file whose folder is missing too: a dry run makes none. */
async function placeFor(
  path: string,
  { workspace }: PlanContext,
  kind: FileChange['kind'],
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
  const named = encoding === 'utf-8' ? {} : { encoding };
  known.remember(path, { stat: versionOf(stat), hash, bytes, ...named });
}

const text = (said: string): ToolResult => ({ content: [{ type: 'text', text: said }] });

const alreadySo = (path: string): string => `${shownPath(path)} is like that already; nothing was written.`;

const headline = (done: string, path: string, { added, removed }: UnifiedDiff, isNew: boolean): string =>
  `${done} ${shownPath(path)}${isNew ? ', a new file' : ''}: +${added} -${removed}`;

/** Notes, each of which may or may not be a sentence, below the first line. */
const noteLines = (notes: readonly string[]): string =>
  notes.map((note) => `\n[${note.replace(/\.$/, '')}]`).join('');
