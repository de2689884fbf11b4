import {
  type Inspection,
  type InspectionRequest,
  matchesPath,
  parentOf,
  type ProjectFiles,
  ToolcribError,
  upwards,
} from '../../core/grammar.ts';
import { notAbove } from '../shared/not-above.ts';
import { unusualSetting } from './config.ts';

/** The arguments and variables of looking in any repository: nothing is written, and nobody is talked to. */
const looking = {
  argv: [
    // No refresh of the index on the way; git diff would write it all the same.
    '--no-optional-locks',
    ...settings('diff.autoRefreshIndex=false', 'core.fsmonitor=false', 'core.hooksPath=/dev/null'),
    ...settings('safe.bareRepository=explicit', 'log.showSignature=false'),
    // Another git would be started inside a submodule, without these settings.
    ...settings('submodule.recurse=false', 'diff.submodule=short'),
  ],
  env: {
    // A promisor remote would be asked for missing objects, by a program the repository names.
    GIT_NO_LAZY_FETCH: '1',
    // A list of one transport that does not exist.
    GIT_ALLOW_PROTOCOL: 'none',
  },
};

function settings(...all: string[]): string[] {
  return all.flatMap((one) => ['-c', one]);
}

/**
 * Finds the repository of a folder. What only looks runs without trust where the repository is as git itself
 * makes them; all else is git as the repository has it set up, and waits for trust. Throws PATH_NOT_FOUND.
 */
export async function inspectRepository(
  look: ProjectFiles,
  { action, folder, roots, effects, values, denied, trusted }: InspectionRequest,
): Promise<Inspection> {
  // It needs no repository.
  if (action === 'init' || action === 'clone')
    return { trust: 'makes a repository, which git sets up as this machine says' };
  const folders = upwards(folder, roots);
  const found = await Promise.all(folders.map((here) => look.kind(`${here}/.git`)));
  const at = found.findIndex((kind) => kind !== undefined);
  const top = folders[at];
  if (top === undefined) throw notAbove(folder, 'repository (.git)');
  const { step } = values;
  if (typeof step === 'string' && step !== 'start') await refuseIdle(look, `${top}/.git`, action, step);
  // Not above the repository that was found: one that is broken would be passed over for another.
  const env = { GIT_CEILING_DIRECTORIES: parentOf(top) };
  if (effects.some((effect) => effect !== 'read')) {
    const reaches = effects.includes('network') ? 'talk to its remotes, ' : '';
    return { env, trust: `lets git write, ${reaches}and run the hooks and filters of this repository` };
  }
  const trailing = denied.length === 0 ? [] : withoutDenied(action, values, denied);
  const notes = action === 'status' ? await underWay(look, `${top}/.git`) : [];
  const inspection = { argv: looking.argv, env: { ...env, ...looking.env }, trailing, notes };
  const unusual = (await trusted())
    ? undefined
    : ((await unusualSetup(look, top)) ??
      (await bareRepositoryIn(look, folders.slice(0, at + 1))) ??
      (await linkIn(look, `${top}/.git`)));
  if (unusual === undefined) return inspection;
  return { ...inspection, trust: `looks into a repository with an unusual configuration (${unusual})` };
}

/** Files that git leaves in its folder while something is under way, and what goes on with it. */
const operations: Readonly<Record<string, string>> = {
  MERGE_HEAD:
    'a merge is under way: mend what conflicts, stage it, then git_integrate action=continue or abort',
  'rebase-merge':
    'a rebase is under way: mend what conflicts, stage it, then git_integrate action=continue, skip or abort',
  'rebase-apply': 'patches are being applied: git_integrate action=continue, skip or abort',
  CHERRY_PICK_HEAD: 'a cherry-pick is under way: git_integrate action=continue, skip or abort',
  REVERT_HEAD: 'a revert is under way: git_integrate action=continue, skip or abort',
  BISECT_LOG: 'a bisect is under way: git_bisect mark=good, bad or skip; mark=reset ends it',
};
/** Files that tell an action that there is something to go on with. */
const marksOf: Readonly<Record<string, readonly string[]>> = {
  merge: ['MERGE_HEAD'],
  rebase: ['rebase-merge', 'rebase-apply'],
  cherry_pick: ['CHERRY_PICK_HEAD', 'sequencer'],
  revert: ['REVERT_HEAD', 'sequencer'],
};

/** Throws ARG_INVALID where nothing is under way that could be gone on with. */
async function refuseIdle(look: ProjectFiles, data: string, action: string, step: string): Promise<void> {
  // Of a linked work tree, it is a file that says where its folder is.
  const [, linked] = /^gitdir: (.+)$/m.exec((await look.read(data)) ?? '') ?? [];
  const names = new Set((await look.list(linked ?? data)).map(({ name }) => name));
  if (marksOf[action]?.some((name) => names.has(name))) return;
  throw new ToolcribError(
    'ARG_INVALID',
    `${step}: nothing is under way here that it would go on with.`,
    'git_status says what is.',
  );
}

async function underWay(look: ProjectFiles, data: string): Promise<readonly string[]> {
  const names = (await look.list(data)).map(({ name }) => name);
  return names.flatMap((name) => operations[name] ?? []);
}

/** Actions that show what files hold, and cannot leave any out. */
const showingAll: ReadonlySet<string> = new Set(['format_patch']);
/** Actions that show what files hold, and end with the paths they are to look at. */
const showing: ReadonlySet<string> = new Set(['diff', 'show', 'grep']);

/**
 * Pathspecs that leave out what must not be read. Throws EFFECT_DENIED for a file that is named by its
 * revision.
 */
function withoutDenied(
  action: string,
  values: InspectionRequest['values'],
  denied: readonly string[],
): readonly string[] {
  const { file, ref, from, to } = values;
  const isHidden = typeof file === 'string' && denied.some((glob) => matchesPath(glob, file));
  if (
    isHidden ||
    showingAll.has(action) ||
    [ref, from, to].some((name) => typeof name === 'string' && name.includes(':'))
  )
    throw new ToolcribError(
      'EFFECT_DENIED',
      `${String(file ?? ref)}: the settings keep some files from you (${denied.join(', ')}).`,
      'Name a commit, and files that are not among them as paths.',
    );
  const isShowing = showing.has(action) || (action === 'log' && values['patch'] === true);
  if (!isShowing) return [];
  return denied.map((glob) => `:(top,exclude,glob)${/^(?:\/|\*\*\/)/.test(glob) ? glob : `**/${glob}`}`);
}

/**
 * The reason why git would read settings, objects or branches from elsewhere, or settings that are not
 * everybody's.
 */
async function unusualSetup(look: ProjectFiles, top: string): Promise<string | undefined> {
  if ((await look.kind(`${top}/.git`)) !== 'folder') return '.git is no folder';
  const separator = /^(?:[A-Za-z]:|\\)/.test(top) ? ';' : ':';
  if (parentOf(top).includes(separator)) return `"${separator}" in the path of its folder`;
  const data = `${top}/.git`;
  for (const name of ['commondir', 'config.worktree', 'info/grafts', 'objects/info/alternates'])
    if ((await look.kind(`${data}/${name}`)) !== undefined) return `.git/${name}`;
  // Remotes as they were written before there was a configuration; one can say which branches a fetch
  // overwrites.
  for (const name of ['remotes', 'branches'])
    if ((await look.list(`${data}/${name}`)).length > 0) return `.git/${name}`;
  const config = await look.read(`${data}/config`);
  return config === undefined ? '.git/config is no plain file' : unusualSetting(config);
}

/**
 * A folder of the work tree that is laid out like a repository is taken for one, with a configuration that
 * came with the files. git has safe.bareRepository against it since 2.38.
 */
async function bareRepositoryIn(look: ProjectFiles, folders: readonly string[]): Promise<string | undefined> {
  for (const folder of folders) {
    const [head, common, objects, refs] = await Promise.all(
      ['HEAD', 'commondir', 'objects', 'refs'].map((name) => look.kind(`${folder}/${name}`)),
    );
    if (head && (common || (objects && refs))) return 'a bare repository among its files';
  }
  return undefined;
}

/** Folders of .git in which git reads when it looks: not hooks, nor what submodules and extensions keep. */
const readFolders = /^(?:info|logs|objects|rebase-apply|rebase-merge|refs|reftable|sequencer|worktrees)$/i;

/** More than git makes before it packs them. */
const mostFolders = 20_000;

/** The first link or device, through which a file or commits of something else would be read, and shown. */
async function linkIn(look: ProjectFiles, data: string): Promise<string | undefined> {
  let level: readonly string[] = [''];
  for (let seen = 0; level.length > 0; seen += level.length) {
    if (seen > mostFolders) return 'more folders in .git than can be looked through';
    const lists = await Promise.all(level.map((folder) => look.list(data + folder)));
    const entries = lists.flatMap((list, index) =>
      list.map(({ name, kind }) => ({ name, kind, path: `${level[index] ?? ''}/${name}` })),
    );
    // The socket of git's own file system monitor, which is not asked.
    const odd = entries.find(
      ({ name, kind }) => kind === 'link' || (kind === 'other' && name !== 'fsmonitor--daemon.ipc'),
    );
    if (odd) return `.git${odd.path} is a ${odd.kind === 'link' ? 'link' : 'device'}`;
    const isTop = level[0] === '';
    level = entries
      .filter(({ name, kind }) => kind === 'folder' && (!isTop || readFolders.test(name)))
      .map(({ path }) => path);
  }
  return undefined;
}
