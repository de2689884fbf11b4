import { join } from 'node:path';
import type * as z from 'zod/mini';
import { readCheckedFile } from './checked-file.ts';
import type { chatFile } from './schemas.ts';

/** What the person's chat.yaml says, with defaults for what it leaves out. */
export type ChatConfig = ReturnType<typeof withDefaults>;

/**
 * What chat.yaml of the configuration folder says; defaults when there is none. Throws CONFIG_INVALID
 * with file, line and the key that was probably meant.
 */
export async function readChatConfig(folder: string): Promise<ChatConfig> {
  const file = join(folder, 'chat.yaml');
  return withDefaults(
    (await readCheckedFile(file, async () => (await import('./schemas.ts')).chatFile)) ?? {},
  );
}

const withDefaults = ({ rules, compaction, ...given }: z.output<typeof chatFile>) => ({
  models: {},
  endpoints: {},
  palette: 'auto' as const,
  profiles: {},
  hooks: {},
  // As many rounds of tool calls as one message may lead to before the person is asked.
  maxTurns: 50,
  thoughts: false,
  ...given,
  rules: [...(rules?.deny ?? []), ...(rules?.ask ?? []), ...(rules?.allow ?? [])],
  compaction: { auto: true, ...compaction },
});
