import type { Stats } from 'node:fs';
import { lstat, realpath, stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { basename, dirname, join, normalize, relative, resolve as resolveLexically } from 'node:path';
import { ToolcribError } from '../../core/errors.ts';
import type { PathKind } from '../../core/params.ts';
import { deniedGlobs, isAboutPaths, pathRule, type Rule } from '../../core/rule.ts';
import type { Workspace } from '../../core/tool.ts';
import { noConsent, type Consent } from './consent.ts';
import { closeOnError, openAt, refuseWrongKind, unreadable, type Opened } from './opened.ts';
import { isInside } from './inside.ts';
import { inPseudoFolder, onPseudoFilesystem } from './pseudo-filesystem.ts';
import { ownFolders } from './own-folders.ts';
import { absolutePath, endsInFolder, firstRoot, protectedPath, withoutSlashes } from './given-path.ts';
import { ownReasons, refuseProtected, refuseUnseen } from './protected-paths.ts';
import { codeOf, locate } from './real-path.ts';
import { openPlaceAt, type Place } from './place.ts';
import { shownPath } from './shown-path.ts';

/** A workspace that can open what it has found inside its roots. Whoever opens closes `handle`. */
export interface RootedWorkspace extends Workspace {
  /** A regular file. Throws what `resolve` throws. */
  openFile(path: string, options?: { from?: string }): Promise<Opened>;
  /** A folder. Throws what `resolve` throws. */
  openFolder(path: string, options?: { from?: string }): Promise<Opened>;
  /** A regular file or a folder. Throws what `resolve` throws. */
  openEither(path: string, options?: { from?: string }): Promise<Opened>;
  /**
   * Where a file or folder is, or will be, for changing it. With `follow` (the default) a symbolic link at the end leads
   * on to its target, which may be still to come; without it, the link itself is the place. With `make`, folders that
   * are missing on the way are made. Throws what `resolve` and `openPlaceAt` throw, and PATH_PROTECTED for a root,
   * for a folder that holds one, and for what `refuseProtected` refuses.
   */
  openPlace(path: string, options?: { from?: string; follow?: boolean; make?: boolean }): Promise<Place>;
  /** The same roots under another consent to changing what is protected. */
  consenting(consent: Consent): RootedWorkspace;
  /** Whether a rule keeps a real path from being read or written, for what is not opened through here. */
  denies(real: string, doing?: 'read' | 'write'): boolean;
  /** Throws EFFECT_DENIED for a whole folder where rules are about single files: what it holds would go along. */
  refuseWhole(given: string): void;
  /** The globs of what is denied, for programs that know files by themselves. */
  readonly denied: readonly string[];
}

interface GateOptions {
  readonly home?: string;
  /** Those about paths are asked for every file that is opened. */
  readonly rules?: readonly Rule[];
}

/**
 * The one gate for paths: opens the given folders, and nothing else, to the tools; and of them not what toolcrib itself
 * keeps there, which is PATH_PROTECTED to every call. Throws PATH_NOT_FOUND, PATH_NOT_REGULAR or PATH_PROTECTED for a
 * folder that cannot be a root.
 */
export async function openWorkspace(
  folders: readonly string[],
  { home = homedir(), rules = [] }: GateOptions = {},
): Promise<RootedWorkspace> {
  const roots = [...new Set(await Promise.all(folders.map((folder) => rootOf(folder, home))))];
  const aboutPaths = rules.filter(({ pattern }) => isAboutPaths(pattern));
  return gateOf({ roots, home, rules: aboutPaths, ownReasonsNow: ownReasonsFor(roots) }, noConsent);
}

interface Gate {
  readonly roots: readonly string[];
  readonly home: string;
  readonly rules: readonly Rule[];
  /** What is toolcrib's own, as the system has it now. */
  readonly ownReasonsNow: typeof ownReasons;
}

function gateOf(gate: Gate, consent: Consent): RootedWorkspace {
  const { roots, home, rules, ownReasonsNow } = gate;

  /** Throws PATH_PROTECTED for what toolcrib keeps: in its journal are files of other projects. */
  function refuseOwn(given: string, real: string): void {
    const reason = ownReasonsNow()(real);
    if (!reason) return;
    throw new ToolcribError(
      'PATH_PROTECTED',
      `${shownPath(given)}: is never opened, because ${reason.effect}.`,
      'list_changes and list_checkpoints show what can be brought back from there.',
    );
  }

  function ruleAgainst(real: string, doing: 'read' | 'write'): Rule | undefined {
    if (rules.length === 0) return undefined;
    const within = roots.filter((root) => isInside(real, root)).map((root) => relative(root, real));
    return pathRule(rules, doing, [real, ...within]);
  }

  /** Throws EFFECT_DENIED for what a rule keeps from the model. */
  function refuseByRule(given: string, real: string, doing: 'read' | 'write'): void {
    const rule = ruleAgainst(real, doing);
    if (rule === undefined) return;
    throw new ToolcribError(
      'EFFECT_DENIED',
      `${shownPath(given)}: the settings keep it from you: ${rule.setting}.`,
      'Do without it, or ask the person.',
    );
  }

  /** Where a path leads, inside the roots. */
  async function locateInside(given: string, from: string | undefined) {
    const absolute = absolutePath(given, from, roots, home);
    const location = await locate(absolute);
    refuseOutside(given, location.real, roots);
    refuseOwn(given, location.real);
    refuseByRule(given, location.real, 'read');
    return { absolute, ...location };
  }

  async function open(given: string, from: string | undefined, kind: PathKind): Promise<Opened> {
    const { real, missing } = await locateInside(given, from);
    if (missing !== undefined) throw unreadable(given, missing);
    const opened = await openAt(real, given);
    // What was opened decides, not what lay there a moment ago.
    return closeOnError(opened.handle, async () => {
      refuseOutside(given, opened.path, roots);
      refuseOwn(given, opened.path);
      refuseByRule(given, opened.path, 'read');
      refuseWrongKind(opened.stat, given, kind);
      if (await onPseudoFilesystem(opened.stablePath, opened.stat.dev)) throw protectedPath(given);
      return opened;
    });
  }

  /** Where what is to be changed lies: a link at the end is what is meant unless it is to be followed. */
  async function locateForChange(given: string, from: string | undefined, follow: boolean) {
    const absolute = absolutePath(given, from, roots, home);
    if (follow) return { absolute, ...(await locate(absolute)) };
    const unslashed = withoutSlashes(absolute);
    if (unslashed !== absolute && unslashed !== '') {
      // `rm -r link/` refuses too: one would mean the link, the other what it leads to.
      const last = await lstat(unslashed).catch(() => undefined);
      if (last && !last.isDirectory())
        throw new ToolcribError(
          'PATH_NOT_REGULAR',
          `${shownPath(given)}: is no folder, though it ends like one.`,
          'Leave out what follows the name.',
        );
    }
    if (endsInFolder.test(absolute)) return { absolute, ...(await locate(absolute)) };
    const parent = await locate(dirname(absolute));
    const named = join(parent.real, basename(absolute));
    const found = await lstat(named).catch(() => undefined);
    // Only a link is taken by the name it was given; of others the real one counts, which may be longer (`GIT~1`).
    const isNamed = parent.missing !== undefined || found?.isSymbolicLink();
    return { absolute, ...(isNamed ? { ...parent, real: named } : await locate(absolute)) };
  }

  return {
    roots,
    get home() {
      return firstRoot(roots);
    },
    async resolve(given, { from, kind = 'any', mustExist = false } = {}) {
      const { absolute, real, missing } = await locateInside(given, from);
      if (missing !== undefined && (mustExist || missing !== 'ENOENT')) throw unreadable(given, missing);
      if (missing === undefined && kind !== 'any') refuseWrongKind(await statOf(real, given), given, kind);
      const named = await withLastLink(absolute, real);
      return roots.some((root) => isInside(named, root)) ? named : real;
    },
    openFile: (path, { from } = {}) => open(path, from, 'file'),
    openFolder: (path, { from } = {}) => open(path, from, 'folder'),
    openEither: (path, { from } = {}) => open(path, from, 'any'),
    consenting: (other) => gateOf(gate, other),
    denies: (real, doing = 'read') => ruleAgainst(real, doing) !== undefined,
    refuseWhole(given) {
      const [rule] = rules.filter(({ decision }) => decision === 'deny');
      if (rule === undefined) return;
      throw new ToolcribError(
        'EFFECT_DENIED',
        `${shownPath(given)}: is a folder, and the settings keep some files from you: ${rule.setting}.`,
        'Move or delete what is in it, file by file.',
      );
    },
    denied: deniedGlobs(rules),
    async openPlace(given, { from, follow = true, make = false } = {}) {
      const { absolute, real, missing } = await locateForChange(given, from, follow);
      refuseOutside(given, real, roots);
      refuseByRule(given, real, 'write');
      // Also by the way there: what `.git/hooks` leads to is run by that name.
      const isOwn = ownReasonsNow();
      await refuseProtected({ path: normalize(absolute) }, given, { isOwn, consent });
      if (real !== normalize(absolute)) await refuseProtected({ path: real }, given, { isOwn, consent });
      if (missing !== undefined) refuseUnseen(real, given, consent);
      if (missing !== undefined && missing !== 'ENOENT') throw unreadable(given, missing);
      if (make && missing !== undefined && endsInFolder.test(absolute))
        throw new ToolcribError(
          'ARG_INVALID',
          `${shownPath(given)}: ends like a folder.`,
          'Give the whole path, with the name.',
        );
      refuseChange(given, real, roots);
      return openPlaceAt(real, given, {
        make,
        consent,
        root: roots.filter((root) => isInside(real, root)).toSorted((a, b) => a.length - b.length)[0] ?? real,
        // As above: what was opened decides.
        check: async (place, folder) => {
          refuseOutside(given, folder.path, roots);
          refuseWrongKind(folder.stat, given, 'folder');
          refuseChange(given, place, roots);
          refuseByRule(given, place, 'write');
          await refuseProtected({ path: place }, given, { isOwn, consent });
          if (await onPseudoFilesystem(folder.stablePath, folder.stat.dev)) throw protectedPath(given);
        },
      });
    },
  };
}

/** The same workspace, for tools that open files. Throws when it comes from somewhere else than `openWorkspace`. */
export function rooted(workspace: Workspace): RootedWorkspace {
  if (!('openFile' in workspace)) throw new TypeError('This workspace cannot open files.');
  return workspace as RootedWorkspace;
}

/** Where the roots and what is toolcrib's own lie apart no call has to ask: nothing outside of the roots is opened. */
function ownReasonsFor(roots: readonly string[]): typeof ownReasons {
  const isOwn = ownReasons();
  const own = ownFolders();
  const couldBe = roots.some((root) => isOwn(root) || own.some((folder) => isInside(folder, root)));
  return couldBe ? ownReasons : () => () => undefined;
}

async function rootOf(folder: string, home: string): Promise<string> {
  const absolute = folder.startsWith('~/') ? join(home, folder.slice(2)) : resolveLexically(folder);
  const real = await realpath(absolute).catch((error: unknown) => {
    throw unreadable(folder, codeOf(error));
  });
  const found = await statOf(real, folder);
  refuseWrongKind(found, folder, 'folder');
  if (inPseudoFolder(real) || (await onPseudoFilesystem(real, found.dev))) throw protectedPath(folder);
  return real;
}

const statOf = (real: string, given: string): Promise<Stats> =>
  stat(real).catch((error: unknown) => {
    throw unreadable(given, codeOf(error));
  });

function refuseOutside(given: string, real: string, roots: readonly string[]): void {
  if (inPseudoFolder(real)) throw protectedPath(given);
  if (roots.some((root) => isInside(real, root))) return;
  throw new ToolcribError(
    'PATH_OUTSIDE_ROOTS',
    `${shownPath(given)}: leads outside the folders that are open: ${roots.map(shownPath).join(', ')}.`,
    'Another folder is opened by starting the server with --root FOLDER.',
  );
}

/** A root cannot be changed itself, nor what holds one. */
function refuseChange(given: string, real: string, roots: readonly string[]): void {
  const held = roots.find((root) => isInside(root, real));
  if (held === undefined) return;
  throw new ToolcribError(
    'PATH_PROTECTED',
    `${shownPath(given)}: ${held === real ? 'is' : 'holds'} a folder that is open to the model itself.`,
    'Name what is to be changed inside it.',
  );
}

/** The path with every link but the last resolved. */
async function withLastLink(absolute: string, real: string): Promise<string> {
  if (endsInFolder.test(absolute)) return real;
  return join((await locate(dirname(absolute))).real, basename(absolute));
}
