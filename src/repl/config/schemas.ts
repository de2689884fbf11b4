import * as z from 'zod/mini';
import { type Rule, parseRule } from '../approval/rules.ts';

export { default as yaml } from 'yaml';

const text = z.string().check(z.minLength(1));
const flag = z.boolean();
const count = z.int().check(z.positive('should be above 0.'));
const amount = z.number().check(z.nonnegative('should not be negative.'));
const words = z.readonly(z.array(text));
const someWords = z.readonly(z.array(text).check(z.minLength(1)));

/** Names with values of one kind. */
const named = <T extends z.ZodMiniType>(name: RegExp, value: T) =>
  z.readonly(z.record(z.string().check(z.regex(name)), value));

/** Keys that may be left out. */
const maybe = <T extends Readonly<Record<string, z.ZodMiniType>>>(shape: T) =>
  Object.fromEntries(
    Object.entries(shape).map(([key, value]) => [key, z.exactOptional(value)]),
  ) as unknown as { -readonly [K in keyof T]: z.ZodMiniExactOptional<T[K]> };

/** These keys and no others. */
const keys = <T extends Parameters<typeof maybe>[0]>(shape: T) => z.strictObject(maybe(shape));

const url = z
  .string()
  .check(
    z.refine(
      (given) => URL.canParse(given) && /^https?:$/.test(new URL(given).protocol),
      'should be an http or https URL.',
    ),
  );

const mode = z.enum(['plan', 'ask', 'auto'], {
  error: ({ input }) => (input === 'yolo' ? 'cannot be yolo here: only by flag, for one run.' : undefined),
});

/** A way of working: which tools, which mode, which model, what the model is told. */
export const profile = keys({
  description: text,
  /** Globs on tool names; `!` excludes. */
  tools: someWords,
  prompt: text,
  /** What `--var` may give, with what it is otherwise. */
  variables: named(/^[A-Za-z_]\w*$/, z.string()),
  mode,
  servers: someWords,
  model: text,
});
export type ProfileFields = z.output<typeof profile>;

/** A name of the person's for a model, with what they know better than the table. */
const model = z.strictObject({
  model: text,
  ...maybe({
    /** Tokens. */
    contextWindow: count,
    maxOutput: count,
    /** False: calls are asked for as XML in the text. */
    tools: flag,
    images: flag,
    thinking: flag,
    /** Thinks, or calls tools, but not both in one request. */
    thinkingOrTools: flag,
    /** Whether thoughts have to be sent back; `calls`: with every message that has calls, even when they are empty. */
    echoReasoning: z.enum(['never', 'if_sent', 'calls']),
    temperature: amount,
    topP: amount,
    /** Of a million tokens. */
    price: z.strictObject({ input: amount, output: amount, ...maybe({ cacheRead: amount }) }),
  }),
});

export type ModelFields = z.output<typeof model>;

const endpoint = keys({
  wire: z.enum(['chat', 'responses', 'anthropic']),
  baseUrl: url,
  /** Environment variables that may hold the key, best first. */
  keyVariables: words,
  /** A program that prints the key, as a list of arguments. */
  keyCommand: someWords,
  /** Sent with every request. */
  headers: named(/^[\w.:/-]+$/, text),
  /** No key and no cost: a server on this machine. */
  local: flag,
});
export type EndpointFields = Readonly<z.output<typeof endpoint>>;

const rules = (effect: Rule['effect']) =>
  z.array(
    z.pipe(
      z.string(),
      z.transform((given, { issues }): Rule => {
        try {
          return parseRule(given, effect, 'user');
        } catch (error) {
          issues.push({ code: 'custom', input: given, message: `is no rule: ${(error as Error).message}` });
          return z.NEVER;
        }
      }),
    ),
  );

const hook = z.strictObject({ command: someWords, ...maybe({ tools: text, timeoutMs: count }) });
const hooks = z.readonly(z.array(hook));

/** chat.yaml of the configuration folder. */
export const chatFile = keys({
  model: text,
  models: named(/^[\w.:-]+$/, model),
  endpoints: named(/^[\w.-]+$/, endpoint),
  mode,
  palette: z.enum(['dark', 'light', 'plain', 'auto']),
  profile: text,
  profiles: named(/^[\w-]+$/, profile),
  rules: keys({ allow: rules('allow'), ask: rules('ask'), deny: rules('deny') }),
  hooks: keys({ before: hooks, after: hooks, end: hooks }),
  maxTurns: count,
  thoughts: flag,
  compaction: keys({ auto: flag, window: count }),
  systemPrompt: text,
});

/** An mcp.json in the shape other hosts use: `mcpServers`, or `servers` as in VS Code. */
export const mcpFile = z.object(
  maybe({ mcpServers: named(/./, z.unknown()), servers: named(/./, z.unknown()) }),
);

/** A value of an environment. */
const written = z.pipe(
  z.union([z.string(), z.number(), z.boolean()], 'should be text, a number, true or false.'),
  z.transform(String),
);

/** One of its servers, as it is written; other hosts have keys of their own, which are left alone. */
export const mcpServer = z.object({
  args: z._default(z.readonly(z.array(z.string())), []),
  env: z._default(named(/^[^=\0]+$/, written), {}),
  headers: z._default(named(/^[\w-]+$/, text), {}),
  /** What the server says of its tools is believed. */
  trust: z._default(flag, false),
  /** How the MCP revision is chosen: asked of the server, or said by the person. */
  protocol: z._default(z.enum(['auto', '2025-11-25', '2026-07-28']), 'auto'),
  /** For one request, in ms; the SDK has the same. */
  timeout: z._default(count, 60_000),
  ...maybe({
    type: z.enum(['stdio', 'http', 'streamable-http', 'streamableHttp'], {
      error: ({ input }) =>
        input === 'sse'
          ? 'is the old SSE transport. Use "http" with the URL the server has for it.'
          : undefined,
    }),
    command: text,
    cwd: text,
    url,
    disabled: flag,
    /** Globs on the server's own tool names, `!` excludes; without them all tools. */
    tools: words,
  }),
});
export type WrittenServer = z.output<typeof mcpServer>;
