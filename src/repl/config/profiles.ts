import { readdir } from 'node:fs/promises';
import { join, parse } from 'node:path';
import { ChatError } from '../errors.ts';
import type { ChatOptions } from '../options.ts';
import { isNamed } from '../text/glob.ts';
import type { Tool } from '../toolbox/tool.ts';
import { hint, invalid, readCheckedFile } from './checked-file.ts';
import type { ChatConfig } from './config.ts';
import type { ProfileFields } from './schemas.ts';

/** A way of working that has a name: which tools, which mode, which model, what the model is told. */
export interface Profile extends ProfileFields {
  readonly name: string;
  readonly source: 'user' | 'project';
}

/**
 * The profiles of chat.yaml, of `profiles/` in the configuration folder and of `.toolcrib/profiles/` in the
 * project. A file of the person's comes instead of what chat.yaml has of that name; one of the project that has the
 * name of one of the person's, or cannot be used, is a warning. The person's own throws CONFIG_INVALID.
 */
export async function readProfiles(
  folders: { readonly config: string; readonly project: string },
  config: Pick<ChatConfig, 'profiles'>,
): Promise<{ profiles: ReadonlyMap<string, Profile>; warnings: readonly string[] }> {
  const profiles = new Map<string, Profile>();
  const warnings: string[] = [];
  const add = (name: string, source: Profile['source'], fields: ProfileFields | undefined) =>
    fields && profiles.set(name, { ...fields, name, source });
  for (const [name, fields] of Object.entries(config.profiles)) add(name, 'user', fields);
  for (const { name, file } of await filesIn(join(folders.config, 'profiles')))
    add(name, 'user', await readCheckedFile(file, async () => (await import('./schemas.ts')).profile));
  const warn = (error: unknown) => {
    if (!(error instanceof ChatError)) throw error;
    warnings.push(error.message);
    return undefined;
  };
  const theirs = await filesIn(join(folders.project, '.toolcrib', 'profiles')).catch(warn);
  for (const { name, file } of theirs ?? []) {
    const read = readCheckedFile(file, async () => (await import('./schemas.ts')).projectProfile);
    const fields = await read.catch(warn);
    if (profiles.get(name)?.source !== 'user') add(name, 'project', fields);
    else warn(invalid(file, 'is left out: a profile of yours has its name.'));
  }
  return { profiles, warnings };
}

/** One of the profiles. Throws ChatError USAGE when there is none of that name. */
export async function profileNamed(
  name: string,
  world: {
    profiles(warn: (text: string) => void): Promise<ReadonlyMap<string, Profile>>;
    warn(text: string): void;
  },
): Promise<Profile> {
  const profiles = await world.profiles((text) => world.warn(text));
  const profile = profiles.get(name);
  if (profile) return profile;
  const names = [...profiles.keys()].join(', ') || 'none';
  throw new ChatError('USAGE', `There is no profile "${name}". There are: ${names}.`);
}

async function filesIn(folder: string): Promise<{ name: string; file: string }[]> {
  try {
    const names = (await readdir(folder)).filter((name) => /^[\w-]+\.ya?ml$/.test(name)).sort();
    return names.map((name) => ({ name: parse(name).name, file: join(folder, name) }));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return [];
    throw invalid(folder, `cannot be read (${String(code)}).`, error);
  }
}

/**
 * A profile's prompt with its `{{variables}}` filled in: cwd, date, platform, user, the profile's own, and
 * `env.NAME` in the person's own profiles. Throws CONFIG_INVALID for one that there is not.
 */
export function profilePrompt(
  profile: Profile,
  { cwd, env, variables }: Pick<ChatOptions, 'cwd' | 'env' | 'variables'>,
): string {
  const known: Readonly<Record<string, string>> = {
    cwd,
    date: new Date().toLocaleDateString('sv'),
    platform: process.platform,
    user: env.USER ?? env.USERNAME ?? '',
    ...profile.variables,
    ...variables,
  };
  return (profile.prompt ?? '').replaceAll(/\{\{\s*([\w.]+)\s*\}\}/g, (_, name: string) => {
    // A project's profile is not written by the person: it cannot have what the environment holds sent to a model.
    const isOwn = name.startsWith('env.') && profile.source === 'user';
    const value = Object.hasOwn(known, name) ? known[name] : isOwn ? env[name.slice(4)] : undefined;
    if (value !== undefined) return value;
    const why = `The profile ${profile.name} uses {{${name}}}, which is nothing that is known.`;
    const ways = `${hint(name, Object.keys(known))} Give it with --var ${name}=value.`;
    throw new ChatError('CONFIG_INVALID', why + ways);
  });
}

/** Whether the profile offers the tool. */
export function inProfile(tool: Tool, { tools = [], servers }: Profile): boolean {
  if (servers && !servers.includes(tool.server)) return false;
  const excluded = tools.filter((glob) => glob.startsWith('!')).map((glob) => glob.slice(1));
  const included = tools.filter((glob) => !glob.startsWith('!'));
  const fits = (glob: string) => isNamed(glob, tool);
  return (included.length === 0 || included.some(fits)) && !excluded.some(fits);
}
