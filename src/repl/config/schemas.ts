import * as z from 'zod/mini';
import { type PermissionRule, parseRule } from '../approval/rules.ts';

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

/** These keys and no others; each may be left out. */
const keys = <T extends Readonly<Record<string, z.ZodMiniType>>>(shape: T) =>
  z.exactPartial(z.strictObject(shape));

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
  /** The variables that `--var` may give, with their defaults. */
  variables: named(/^[A-Za-z_]\w*$/, z.string()),
  mode,
  servers: someWords,
  model: text,
});
export type ProfileFields = z.output<typeof profile>;

/** A name of the person's for a model, with what they know better than the table. */
const model = z.extend(
  keys({
    /** Tokens. */
    contextWindow: count,
    maxOutput: count,
    /** False: calls are asked for as XML in the text. */
    tools: flag,
    images: flag,
    thinking: flag,
    /** Thinks, or calls tools, but not both in one request. */
    thinkingOrTools: flag,
    /**
     * The answers with which thoughts are sent back; `calls`: with every message that has calls, even when
     * they are empty.
     */
    echoReasoning: z.enum(['never', 'if_sent', 'calls']),
    temperature: amount,
    topP: amount,
    /** The price of a million tokens. */
    price: z.extend(keys({ cacheRead: amount }), { input: amount, output: amount }),
  }),
  { model: text },
);

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

const rules = (effect: PermissionRule['effect']) =>
  z.array(
    z.pipe(
      z.string(),
      z.transform((given, { issues }): PermissionRule => {
        try {
          return parseRule(given, effect, 'user');
        } catch (error) {
          issues.push({ code: 'custom', input: given, message: `is no rule: ${(error as Error).message}` });
          return z.NEVER;
        }
      }),
    ),
  );

const hook = z.extend(keys({ tools: text, timeoutMs: count }), { command: someWords });
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
export const mcpFile = z.exactPartial(
  z.object({ mcpServers: named(/./, z.unknown()), servers: named(/./, z.unknown()) }),
);

const maybe = z.exactOptional;
/** A value of an environment. */
const written = z.pipe(
  z.union([z.string(), z.number(), z.boolean()], 'should be text, a number, true or false.'),
  z.transform(String),
);
const sse = 'is the old SSE transport. Use "http" with the URL the server has for it.';

/** One of its servers, as it is written; other hosts have keys of their own, which are left alone. */
export const mcpServer = z.object({
  type: maybe(
    z.enum(['stdio', 'http', 'streamable-http', 'streamableHttp'], {
      error: ({ input }) => (input === 'sse' ? sse : undefined),
    }),
  ),
  command: maybe(text),
  args: z._default(z.readonly(z.array(z.string())), []),
  env: z._default(named(/^[^=\0]+$/, written), {}),
  cwd: maybe(text),
  url: maybe(url),
  headers: z._default(named(/^[\w-]+$/, text), {}),
  /** True when the server's annotations of its tools are believed. */
  trust: z._default(flag, false),
  /** The MCP revision: asked of the server, or said by the person. */
  protocol: z._default(z.enum(['auto', '2025-11-25', '2026-07-28']), 'auto'),
  /** The time limit of one request, in ms; the SDK has the same. */
  timeout: z._default(count, 60_000),
  disabled: maybe(flag),
  /** Globs on the server's own tool names, `!` excludes; without them all tools. */
  tools: maybe(words),
});
export type WrittenServer = z.output<typeof mcpServer>;
