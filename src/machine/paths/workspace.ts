import { realpath, stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join, normalize, relative, resolve as resolveLexically } from 'node:path';
import type { PathKind } from '../../core/params.ts';
import { deniedGlobs, isAboutPaths, pathRule, type Rule } from '../../core/rule.ts';
import type { Workspace } from '../../core/tool.ts';
import { absolutePath, firstRoot, inPseudoFolder, protectedPath, withoutSlashes } from './given-path.ts';
import { isInside, outermost } from './inside.ts';
import { openAt, refuseWrongKind, unreadable, type OpenedFile } from './opened.ts';
import { openPlaceAt, removeMade, type PathTarget } from './path-target.ts';
import { isOwn, noConsent, ownRealFolders, refuseProtected, type Consent } from './protected-paths.ts';
import { codeOf, locate } from './real-path.ts';
import { refusal, displayPath } from './display-path.ts';

interface RelativePath {
  /** The folder at which relative paths start; by default the first root. */
  readonly from?: string;
}

/**
 * Opens a workspace, through which all tools open files: it gives access to these folders and nothing else,
 * and in them not to what toolcrib itself keeps there, which is PATH_PROTECTED to every call. Throws
 * PATH_NOT_FOUND, PATH_NOT_REGULAR or PATH_PROTECTED for a folder that cannot be a root.
 */
export async function openWorkspace(
  folders: readonly string[],
  { home = homedir(), rules = [] }: { home?: string; rules?: readonly Rule[] } = {},
): Promise<RootedWorkspace> {
  const roots = [...new Set(await Promise.all(folders.map((folder) => rootOf(folder, home))))];
  const aboutPaths = rules.filter(({ pattern }) => isAboutPaths(pattern));
  // Where the roots and toolcrib's own folders lie apart, no call has to check, as nothing outside of the
  // roots is opened.
  const own = ownRealFolders();
  const couldBeOwn = roots.some((root) => isOwn(root, own) || own.some((folder) => isInside(folder, root)));
  return new RootedWorkspace({ roots, home, rules: aboutPaths, couldBeOwn }, noConsent);
}

/** Returns the same workspace, for tools that open files. Throws when it was not made by `openWorkspace`. */
export function rooted(workspace: Workspace): RootedWorkspace {
  if (workspace instanceof RootedWorkspace) return workspace;
  throw new TypeError('This workspace cannot open files.');
}

interface PlaceOptions {
  readonly follow?: boolean;
  readonly make?: boolean;
  /** True to refuse a path that is no longer the real one, which it was when it was recorded. */
  readonly exactly?: boolean;
}

interface WorkspaceRules {
  readonly roots: readonly string[];
  readonly home: string;
  /** The rules about paths, which are checked for every file that is opened. */
  readonly rules: readonly Rule[];
  /** True where toolcrib's own files could lie in the roots. */
  readonly couldBeOwn: boolean;
}

/** A workspace that can open files inside its roots. Whoever opens one closes its `handle`. */
export class RootedWorkspace implements Workspace {
  readonly #limits: WorkspaceRules;
  readonly #consent: Consent;

  constructor(limits: WorkspaceRules, consent: Consent) {
    this.#limits = limits;
    this.#consent = consent;
  }

  get roots(): readonly string[] {
    return this.#limits.roots;
  }

  get home(): string {
    return firstRoot(this.roots);
  }

  /** The globs of denied files, for programs that find files by themselves. */
  get denied(): readonly string[] {
    return deniedGlobs(this.#limits.rules);
  }

  /** Returns a workspace with the same roots and another consent to changing what is protected. */
  consenting(consent: Consent): RootedWorkspace {
    return new RootedWorkspace(this.#limits, consent);
  }

  async resolve(
    given: string,
    options: RelativePath & { kind?: PathKind; mustExist?: boolean } = {},
  ): Promise<string> {
    const { from, kind = 'any', mustExist = false } = options;
    const absolute = this.#absolute(given, from);
    const { real, missing } = locate(absolute);
    this.#refuse(given, real, 'read');
    if (missing !== undefined && (mustExist || missing !== 'ENOENT')) throw unreadable(given, missing);
    if (missing === undefined && kind !== 'any') refuseWrongKind(await statOf(real, given), given, kind);
    const named = locate(absolute, { follow: false });
    return this.#holds(named.real) ? named.real : real;
  }

  /** Opens a regular file, a folder, or either. Throws what `resolve` throws. */
  async open(kind: PathKind, given: string, { from }: RelativePath = {}): Promise<OpenedFile> {
    const { real, missing } = locate(this.#absolute(given, from));
    this.#refuse(given, real, 'read');
    if (missing !== undefined) throw unreadable(given, missing);
    return openAt(real, given, (opened) => {
      this.#refuse(given, opened.path, 'read');
      refuseWrongKind(opened.stat, given, kind);
    });
  }

  /**
   * Opens the place of a file or folder that exists or will be made, for changing it. With `follow` (the
   * default) a symbolic link at the end leads on to its target, which may not exist yet; without it, the link
   * itself is the place. With `make`, missing folders on the way are made. Throws what `resolve` and
   * `openPlaceAt` throw, and PATH_PROTECTED for a root, for a folder that holds one, and for what
   * `refuseProtected` refuses.
   */
  async openPlace(
    given: string,
    { follow = true, make = false, exactly = false }: PlaceOptions = {},
  ): Promise<PathTarget> {
    const absolute = this.#absolute(given);
    const { real, missing } = locate(follow ? absolute : withoutSlashes(absolute), { follow });
    const consent = this.#consent;
    const check = (path: string) => {
      this.#refuse(given, path, 'write');
      if (exactly && path !== given)
        throw refusal('STALE_FILE', given, `the path now leads to ${displayPath(path)}.`);
      refuseProtected({ path }, given, { consent, isNew: missing !== undefined });
    };
    // Checked before missing folders are reported, because programs make them.
    check(real);
    // The path before following links counts as well: what `.git/hooks` leads to is run by that name.
    if (real !== normalize(absolute)) refuseProtected({ path: normalize(absolute) }, given, { consent });
    if (missing !== undefined && missing !== 'ENOENT') throw unreadable(given, missing);
    if (make && missing !== undefined && absolute !== withoutSlashes(absolute))
      throw refusal('ARG_INVALID', given, `ends like a folder.`, 'Give the name as well.');
    return openPlaceAt(real, given, {
      make,
      consent,
      root: outermost(real, this.roots) ?? real,
      check: (place, folder) => {
        this.#refuseRoots(given, place);
        this.#refuse(given, folder.path, 'read');
        refuseWrongKind(folder.stat, given, 'folder');
        check(place);
      },
    });
  }

  /**
   * Works at a place itself (or with `follow`, where it leads), which is held open meanwhile. When `work`
   * throws, the folders that were made for it are removed. Throws what `openPlace` and `work` throw.
   */
  async atPlace<T>(
    given: string,
    options: PlaceOptions,
    work: (place: PathTarget) => Promise<T>,
  ): Promise<T> {
    const place = await this.openPlace(given, { follow: false, ...options });
    try {
      return await work(place);
    } catch (error) {
      removeMade(place.made);
      throw error;
    } finally {
      await place.folder.handle.close();
    }
  }

  /**
   * True where a rule denies reading or writing a real path, for files that are not opened through the
   * workspace.
   */
  denies(real: string, doing: 'read' | 'write' = 'read'): boolean {
    return this.#ruleAgainst(real, doing) !== undefined;
  }

  /**
   * Throws EFFECT_DENIED for a whole folder where rules deny single files, because what it holds would go
   * along.
   */
  refuseWhole(given: string): void {
    const rule = this.#limits.rules.find(({ decision }) => decision === 'deny');
    if (rule === undefined) return;
    throw refusal(
      'EFFECT_DENIED',
      given,
      `is a folder, and the settings keep some files from you: ${rule.setting}.`,
      'Move or delete what is in it, file by file.',
    );
  }

  #absolute(given: string, from?: string): string {
    return absolutePath(given, from ?? this.home, this.#limits.home);
  }

  #holds(real: string): boolean {
    return this.roots.some((root) => isInside(real, root));
  }

  /**
   * Throws for a real path that no call may open: outside of the roots, toolcrib's own, or denied by a rule.
   */
  #refuse(given: string, real: string, doing: 'read' | 'write'): void {
    if (inPseudoFolder(real)) throw protectedPath(given);
    if (!this.#holds(real))
      throw refusal(
        'PATH_OUTSIDE_ROOTS',
        given,
        `leads outside the folders that are open: ${this.roots.map(displayPath).join(', ')}.`,
        'Another folder is opened by starting the server with --root FOLDER.',
      );
    // The journal holds files of other projects.
    if (this.#limits.couldBeOwn && isOwn(real))
      throw refusal(
        'PATH_PROTECTED',
        given,
        `is never opened, because it is what toolcrib itself remembers.`,
        'undo lists what can be brought back from there.',
      );
    const rule = this.#ruleAgainst(real, doing);
    if (rule)
      throw refusal(
        'EFFECT_DENIED',
        given,
        `the settings keep it from you: ${rule.setting}.`,
        'Do without it, or ask the person.',
      );
  }

  #ruleAgainst(real: string, doing: 'read' | 'write'): Rule | undefined {
    if (this.#limits.rules.length === 0) return undefined;
    const within = this.roots.filter((root) => isInside(real, root)).map((root) => relative(root, real));
    return pathRule(this.#limits.rules, doing, [real, ...within]);
  }

  /** Throws for a root, and for a folder that holds one: neither can be changed. */
  #refuseRoots(given: string, real: string): void {
    const held = this.roots.find((root) => isInside(root, real));
    if (held === undefined) return;
    throw refusal(
      'PATH_PROTECTED',
      given,
      `${held === real ? 'is' : 'holds'} a folder that is open to the model itself.`,
      'Name what is to be changed inside it.',
    );
  }
}

async function rootOf(folder: string, home: string): Promise<string> {
  const absolute = folder.startsWith('~/') ? join(home, folder.slice(2)) : resolveLexically(folder);
  const real = await realpath(absolute).catch((error: unknown) => {
    throw unreadable(folder, codeOf(error));
  });
  refuseWrongKind(await statOf(real, folder), folder, 'folder');
  if (inPseudoFolder(real)) throw protectedPath(folder);
  return real;
}

const statOf = (real: string, given: string) =>
  stat(real).catch((error: unknown) => {
    throw unreadable(given, codeOf(error));
  });
