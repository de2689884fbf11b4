import { join } from 'node:path';
import type { Rule } from '../approval/approval.ts';
import { parseRule } from '../approval/rules.ts';
import { ChatError } from '../errors.ts';
import {
  amount,
  count,
  fields,
  flag,
  list,
  Misfit,
  needing,
  oneOf,
  record,
  refined,
  text,
  type Check,
  type Checked,
} from './check.ts';
import { readCheckedFile } from './checked-file.ts';
import { profileFields } from './profile-fields.ts';

/** What the person's chat.yaml says, with defaults for what it leaves out. */
export type ChatConfig = ReturnType<typeof withDefaults>;

/**
 * What chat.yaml of the configuration folder says; defaults when there is none. Throws CONFIG_INVALID
 * with file, line and the key that was probably meant.
 */
export async function readChatConfig(folder: string): Promise<ChatConfig> {
  return withDefaults((await readCheckedFile(join(folder, 'chat.yaml'), wholeFile)) ?? {});
}

const withDefaults = ({ rules, compaction, ...given }: Checked<typeof wholeFile>) => ({
  models: {},
  endpoints: {},
  palette: 'auto' as const,
  profiles: {},
  hooks: {},
  // As many rounds of tool calls as one message may lead to before the person is asked.
  maxTurns: 50,
  thoughts: false,
  // Lines that are kept for each project.
  historySize: 1000,
  ...given,
  rules: [...(rules?.deny ?? []), ...(rules?.ask ?? []), ...(rules?.allow ?? [])],
  compaction: { auto: true, ...compaction },
});

const price = needing(
  { input: amount, output: amount, cacheRead: amount },
  ['input', 'output'],
  'needs input and output: the price of a million tokens.',
);

/** A name of the person's for a model, with what they know better than the table. */
const model = needing(
  {
    model: text,
    contextWindow: count,
    maxOutput: count,
    tools: flag,
    images: flag,
    thinking: flag,
    thinkingOrTools: flag,
    echoReasoning: oneOf('never', 'if_sent', 'calls'),
    temperature: amount,
    topP: amount,
    price,
  },
  ['model'],
  'needs model: "endpoint/id".',
);

const isHttp = (given: string): boolean => URL.canParse(given) && /^https?:$/.test(new URL(given).protocol);

const endpoint = fields({
  wire: oneOf('chat', 'responses', 'anthropic'),
  baseUrl: refined(text, (given) => (isHttp(given) ? undefined : 'should be an http or https URL.')),
  keyVariables: list(text),
  keyCommand: list(text, 1),
  headers: record(text),
  local: flag,
  oldAnthropicHeaders: flag,
});

const ruleOf =
  (effect: Rule['effect']): Check<Rule> =>
  (value, path) => {
    try {
      return parseRule(text(value, path), effect, 'user');
    } catch (error) {
      throw error instanceof ChatError ? new Misfit(path, `is no rule: ${error.message}`) : error;
    }
  };

const hook = needing(
  { tools: text, command: list(text, 1), timeoutMs: count },
  ['command'],
  'needs command: the program and its arguments, as a list.',
);

const mode: Check<'plan' | 'ask' | 'auto'> = (value, path) => {
  if (value === 'yolo') throw new Misfit(path, 'cannot be yolo here: only by flag, for one run.');
  return oneOf('plan', 'ask', 'auto')(value, path);
};

const wholeFile = fields({
  model: text,
  models: record(model, /^[\w.:-]+$/),
  endpoints: record(endpoint, /^[\w.-]+$/),
  mode,
  palette: oneOf('dark', 'light', 'plain', 'auto'),
  profile: text,
  profiles: record(profileFields, /^[\w-]+$/),
  rules: fields({ allow: list(ruleOf('allow')), ask: list(ruleOf('ask')), deny: list(ruleOf('deny')) }),
  hooks: fields({ before: list(hook), after: list(hook), end: list(hook) }),
  maxTurns: count,
  thoughts: flag,
  compaction: fields({ auto: flag, window: count }),
  systemPrompt: text,
  historySize: count,
});
