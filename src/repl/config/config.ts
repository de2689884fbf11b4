import { readdir } from 'node:fs/promises';
import { join, parse } from 'node:path';
import type * as z from 'zod/mini';
import { ChatError, hint } from '../errors.ts';
import type { ChatOptions } from '../options.ts';
import { isNamed, isWanted, type PermissionRule } from '../approval/rules.ts';
import type { ClientTool } from '../toolbox/tool.ts';
import { readCheckedFile, invalid } from './checked-file.ts';
import type { chatFile, ProfileFields } from './schemas.ts';

/** The person's chat.yaml, with defaults for what it leaves out. */
export interface ChatConfig
  extends Required<Pick<WrittenConfig, DefaultedField>>, Pick<WrittenConfig, OptionalField> {
  readonly rules: readonly PermissionRule[];
  readonly compaction: { readonly auto: boolean; readonly window?: number };
}
type WrittenConfig = z.output<typeof chatFile>;
type DefaultedField = 'models' | 'endpoints' | 'palette' | 'profiles' | 'hooks' | 'maxTurns' | 'thoughts';
type OptionalField = 'model' | 'mode' | 'profile' | 'systemPrompt';

/**
 * Reads chat.yaml of the configuration folder; defaults when there is none. Throws CONFIG_INVALID with file,
 * line and the key that was probably meant.
 */
export async function readChatConfig(folder: string): Promise<ChatConfig> {
  const file = join(folder, 'chat.yaml');
  return withDefaults((await readCheckedFile(file, 'chatFile')) ?? {});
}

const withDefaults = ({ rules, compaction, ...given }: WrittenConfig): ChatConfig => ({
  models: {},
  endpoints: {},
  palette: 'auto',
  profiles: {},
  hooks: {},
  // Answers of the model that one message may lead to before the person is asked.
  maxTurns: 50,
  thoughts: false,
  ...given,
  rules: [...(rules?.deny ?? []), ...(rules?.ask ?? []), ...(rules?.allow ?? [])],
  compaction: { auto: true, ...compaction },
});

export type Profile = ProfileFields & { readonly name: string };

/**
 * The profiles of chat.yaml and of `profiles/` in the configuration folder; of one name, that of a file
 * counts. With `only`, no other file is read. Throws CONFIG_INVALID.
 */
export async function readProfiles(
  folder: string,
  { profiles: written }: Pick<ChatConfig, 'profiles'>,
  only?: string,
): Promise<ReadonlyMap<string, Profile>> {
  const profiles = new Map(Object.entries(written).map(([name, fields]) => [name, { ...fields, name }]));
  const files = join(folder, 'profiles');
  const names = await readdir(files).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return [];
    throw invalid(files, `cannot be read (${error.code}).`, error);
  });
  for (const file of names.filter((one) => /^[\w-]+\.ya?ml$/.test(one)).sort()) {
    const { name } = parse(file);
    if (name !== (only ?? name)) continue;
    const fields = await readCheckedFile(join(files, file), 'profile');
    if (fields) profiles.set(name, { ...fields, name });
  }
  return profiles;
}

/** One of the profiles. Throws ChatError USAGE when there is none of that name. */
export async function profileNamed(
  name: string,
  environment: { profiles(only?: string): Promise<ReadonlyMap<string, Profile>> },
): Promise<Profile> {
  const profile = (await environment.profiles(name)).get(name);
  if (profile) return profile;
  const names = [...(await environment.profiles()).keys()].join(', ') || 'none';
  throw new ChatError('USAGE', `There is no profile "${name}". There are: ${names}.`);
}

/**
 * A profile's prompt with its `{{variables}}` filled in: cwd, date, platform, user, the profile's own, and
 * `env.NAME`. Throws CONFIG_INVALID for one that there is not.
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
    const value = name.startsWith('env.') ? env[name.slice(4)] : Object.hasOwn(known, name) && known[name];
    if (typeof value === 'string') return value;
    const why = `The profile ${profile.name} uses {{${name}}}, which is nothing that is known.`;
    const ways = `${hint(name, Object.keys(known))} Give it with --var ${name}=value.`;
    throw new ChatError('CONFIG_INVALID', why + ways);
  });
}

/** Tells whether the profile offers the tool. */
export const inProfile = (tool: ClientTool, { tools, servers }: Profile): boolean =>
  servers?.includes(tool.server) !== false && isWanted(tools, (pattern) => isNamed(pattern, tool));
