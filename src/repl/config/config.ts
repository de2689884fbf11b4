import { join } from 'node:path';
import type { Rule } from '../approval/approval.ts';
import { parseRule } from '../approval/rule-text.ts';
import { ChatError } from '../errors.ts';
import type { Hooks } from '../turn/hooks.ts';
import type { Capabilities, Endpoint } from '../models/model.ts';
import type { Palette } from '../terminal/paint.ts';
import {
  amount,
  count,
  fields,
  flag,
  list,
  Misfit,
  oneOf,
  record,
  text,
  type Check,
  type Checked,
} from './check.ts';
import { readCheckedFile } from './checked-file.ts';
import { profileFields, type ProfileFields } from './profile-fields.ts';

/** A name of the person's for a model, with what they know better than the table. */
export type ModelAlias = { readonly model: string } & Partial<Capabilities>;

/** What the person's chat.yaml says, with defaults for what it leaves out. */
export interface ChatConfig {
  readonly model?: string;
  /** For names of sessions. */
  readonly smallModel?: string;
  readonly models: Readonly<Record<string, ModelAlias>>;
  /** New ones, or changes to those that are known. */
  readonly endpoints: Readonly<Record<string, Partial<Omit<Endpoint, 'name'>>>>;
  readonly mode?: 'plan' | 'ask' | 'auto';
  readonly palette: Palette | 'auto';
  readonly profile?: string;
  readonly profiles: Readonly<Record<string, ProfileFields>>;
  readonly rules: readonly Rule[];
  readonly hooks: Hooks;
  readonly maxTurns: number;
  /** Shows what the model thinks. */
  readonly thoughts: boolean;
  readonly nameSessions: boolean;
  readonly compaction: { readonly auto: boolean; readonly window?: number };
  readonly systemPrompt?: string;
  /** Lines that are kept for each project. */
  readonly historySize: number;
}

/**
 * What chat.yaml of the configuration folder says; defaults when there is none. Throws CONFIG_INVALID
 * with file, line and the key that was probably meant.
 */
export async function readChatConfig(folder: string): Promise<ChatConfig> {
  return withDefaults((await readCheckedFile(join(folder, 'chat.yaml'), wholeFile)) ?? {});
}

const withDefaults = ({ rules, compaction, ...given }: Checked<typeof wholeFile>): ChatConfig => ({
  models: {},
  endpoints: {},
  palette: 'auto',
  profiles: {},
  hooks: {},
  // As many rounds of tool calls as one message may lead to before the person is asked.
  maxTurns: 50,
  thoughts: false,
  nameSessions: true,
  historySize: 1000,
  ...given,
  rules: [...(rules?.deny ?? []), ...(rules?.ask ?? []), ...(rules?.allow ?? [])],
  compaction: { auto: true, ...compaction },
});

const price = fields({ input: amount, output: amount, cacheRead: amount });

const model: Check<ModelAlias> = (value, path) => {
  const found = fields({
    model: text,
    contextWindow: count,
    maxOutput: count,
    tools: flag,
    images: flag,
    thinking: flag,
    thinkingOrTools: flag,
    echoReasoning: oneOf('never', 'if_sent', 'calls'),
    streaming: flag,
    temperature: amount,
    topP: amount,
    price: (value, at) => {
      const { input, output, cacheRead } = price(value, at);
      if (input === undefined || output === undefined)
        throw new Misfit(at, 'needs input and output: the price of a million tokens.');
      return { input, output, ...(cacheRead === undefined ? {} : { cacheRead }) };
    },
  })(value, path);
  const { model: name, ...capabilities } = found;
  if (name === undefined) throw new Misfit(path, 'needs model: "endpoint/id".');
  return { model: name, ...capabilities };
};

const url: Check<string> = (value, path) => {
  const given = text(value, path);
  if (!/^https?:$/.test(URL.canParse(given) ? new URL(given).protocol : ''))
    throw new Misfit(path, 'should be an http or https URL.');
  return given;
};

const endpoint = fields({
  wire: oneOf('chat', 'responses', 'anthropic'),
  baseUrl: url,
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

const hook: Check<NonNullable<Hooks['end']>[number]> = (value, path) => {
  const { command, ...rest } = fields({ tools: text, command: list(text, 1), timeoutMs: count })(value, path);
  if (!command) throw new Misfit(path, 'needs command: the program and its arguments, as a list.');
  return { command, ...rest };
};

const mode: Check<'plan' | 'ask' | 'auto'> = (value, path) => {
  if (value === 'yolo') throw new Misfit(path, 'cannot be yolo here: only by flag, for one run.');
  return oneOf('plan', 'ask', 'auto')(value, path);
};

const wholeFile = fields({
  model: text,
  smallModel: text,
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
  nameSessions: flag,
  compaction: fields({ auto: flag, window: count }),
  systemPrompt: text,
  historySize: count,
});
