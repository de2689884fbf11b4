import { readdir } from 'node:fs/promises';
import { readFileSync, statSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { ChatError } from '../errors.ts';
import type { ChatConfig } from './config.ts';
import { readCheckedFile } from './checked-file.ts';
import { hint } from './nearest.ts';
import { profileFields, projectProfileFields, type ProfileFields } from './profile-fields.ts';

/** A way of working that has a name: which tools, which mode, which model, what the model is told. */
export interface Profile extends ProfileFields {
  readonly name: string;
  readonly source: 'user' | 'project';
}

/**
 * The profiles of chat.yaml, of `profiles/` in the configuration folder and of `.toolcrib/profiles/` in the project, the later ones
 * instead of earlier ones of that name. A project's file that cannot be used is a warning; the person's own throws CONFIG_INVALID.
 */
export async function readProfiles(
  folders: { readonly config: string; readonly project?: string },
  config: Pick<ChatConfig, 'profiles'>,
): Promise<{ profiles: ReadonlyMap<string, Profile>; warnings: readonly string[] }> {
  const profiles = new Map<string, Profile>();
  const warnings: string[] = [];
  for (const [name, fields] of Object.entries(config.profiles))
    profiles.set(name, { ...fields, name, source: 'user' });
  for (const { name, file } of await filesIn(join(folders.config, 'profiles'))) {
    const fields = await readCheckedFile(file, profileFields);
    if (fields) profiles.set(name, { ...fields, name, source: 'user' });
  }
  if (folders.project === undefined) return { profiles, warnings };
  for (const { name, file } of await filesIn(join(folders.project, '.toolcrib', 'profiles'))) {
    try {
      const fields = await readCheckedFile(file, projectProfileFields);
      if (fields) profiles.set(name, { ...fields, ...limitsOf(profiles.get(name)), name, source: 'project' });
    } catch (error) {
      if (!(error instanceof ChatError)) throw error;
      warnings.push(error.message);
    }
  }
  return { profiles, warnings };
}

/** A project cannot widen what the person's own profile of that name allows. */
function limitsOf(own: Profile | undefined): Partial<ProfileFields> {
  if (!own) return {};
  const { tools, servers, model, mode } = own;
  return {
    ...(tools && { tools }),
    ...(servers && { servers }),
    ...(model && { model }),
    ...(mode === 'plan' && { mode }),
  };
}

async function filesIn(folder: string): Promise<{ name: string; file: string }[]> {
  try {
    const names = (await readdir(folder)).filter((name) => /^[\w-]+\.ya?ml$/.test(name)).sort();
    return names.map((name) => ({ name: basename(name).replace(/\.ya?ml$/, ''), file: join(folder, name) }));
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    if (code === 'ENOENT' || code === 'ENOTDIR' || code === 'EACCES') return [];
    throw error;
  }
}

/**
 * A profile's prompt with its `{{variables}}` filled in: cwd, date, platform, user, git_branch, the profile's own, and `env.NAME`
 * in the person's own profiles. Throws CONFIG_INVALID for one that there is not.
 */
export function profilePrompt(
  profile: Profile,
  given: Readonly<Record<string, string>>,
  { cwd, env }: { readonly cwd: string; readonly env: NodeJS.ProcessEnv },
): string {
  const known = new Map(
    Object.entries({
      cwd,
      date: new Date().toLocaleDateString('sv'),
      platform: process.platform,
      user: env.USER ?? env.USERNAME ?? '',
      ...profile.variables,
      ...given,
    }),
  );
  return (profile.prompt ?? '').replaceAll(/\{\{\s*([\w.]+)\s*\}\}/g, (_, name: string) => {
    if (name === 'git_branch' && !known.has(name)) return branchOf(cwd);
    const value = known.get(name) ?? fromEnvironment(name, profile, env);
    if (value !== undefined) return value;
    const meant = hint(name, [...known.keys(), 'git_branch']);
    throw new ChatError(
      'CONFIG_INVALID',
      `The profile ${profile.name} uses {{${name}}}, which is nothing that is known.${meant} Give it with --var ${name}=value.`,
    );
  });
}

/** A project's profile is not written by the person: it cannot have what the environment holds sent to a model. */
const fromEnvironment = (name: string, { source }: Profile, env: NodeJS.ProcessEnv): string | undefined =>
  name.startsWith('env.') && source === 'user' ? env[name.slice(4)] : undefined;

/** Of the repository that a folder is in: its branch, the beginning of a commit, or nothing. No program is needed for that. */
function branchOf(cwd: string): string {
  for (let folder = resolve(cwd); ; folder = dirname(folder)) {
    const git = join(folder, '.git');
    // In a worktree or submodule `.git` is a file that names the folder.
    const named = smallFile(git)?.replace(/^gitdir:\s*/, '');
    const head = smallFile(join(named === undefined ? git : resolve(folder, named), 'HEAD'));
    if (head !== undefined) return /^ref: (?:refs\/heads\/)?(\S+)$/.exec(head)?.[1] ?? head.slice(0, 12);
    if (dirname(folder) === folder) return '';
  }
}

/** The text of what is a file and small; nothing else is opened, since a FIFO would be waited for. */
function smallFile(path: string): string | undefined {
  const facts = statSync(path, { throwIfNoEntry: false });
  return facts?.isFile() && facts.size < 4096 ? readFileSync(path, 'utf8').trim() : undefined;
}
