import type { EndpointFields, ModelFields } from '../config/schemas.ts';
import type { Usage } from '../message.ts';

/**
 * The address of a provider. `name`: `openai`, `ollama`, or what the person called it; no `keyVariables`: no
 * key is needed.
 */
export type Endpoint = EndpointFields &
  Required<Pick<EndpointFields, 'wire' | 'baseUrl' | 'keyVariables' | 'local'>> & { readonly name: string };

type ModelTraits = Omit<ModelFields, 'model'>;
type OptionalTrait = 'temperature' | 'topP' | 'price';

/** The capabilities of a model: from the configuration, the table, or a guess that errs on the small side. */
export type Capabilities = Readonly<
  Required<Omit<ModelTraits, OptionalTrait>> & Pick<ModelTraits, OptionalTrait>
>;

export interface Model {
  readonly endpoint: Endpoint;
  /** The name by which the endpoint calls it. */
  readonly id: string;
  readonly capabilities: Capabilities;
  /** The capabilities that the person has configured: nobody knows better. */
  readonly configured?: Partial<Capabilities>;
}

/** `endpoint/id`, as a person writes it. */
export const nameOf = ({ endpoint, id }: Model): string => `${endpoint.name}/${id}`;

/** A guess for what is not known. */
const unknown: Capabilities = {
  contextWindow: 128_000,
  maxOutput: 8000,
  tools: true,
  images: false,
  thinking: false,
  thinkingOrTools: false,
  echoReasoning: 'if_sent',
};

/**
 * The beginning of an id, the endpoint a bare one belongs to, thousands of tokens of window and answer, and
 * more.
 */
type ModelFamily = readonly [
  RegExp,
  string | undefined,
  window: number,
  answer: number,
  Partial<Capabilities>?,
];

const sees = { images: true };
const thinks = { thinking: true };
const both = { ...sees, ...thinks };
/**
 * DeepSeek wants its thoughts back with every call; its older models call tools only while they do not think.
 */
const back = { ...thinks, echoReasoning: 'calls' as const };

/** The families of models, from the providers' own pages of November 2026; the first that fits counts. */
const families: readonly ModelFamily[] = [
  // The window is that of the input: of 1,050,000 and 400,000 tokens, 128,000 are kept for the answer.
  [/^gpt-5\.([4-9]|\d\d)/, 'openai', 922, 128, both],
  [/^gpt-5/, 'openai', 272, 128, both],
  [/^gpt-4\.1/, 'openai', 1047, 32, sees],
  [/^gpt-4o/, 'openai', 128, 16, sees],
  [/^o[134]\b/, 'openai', 200, 100, both],
  [/^gpt-oss/, undefined, 131, 32, thinks],
  [/^claude-([a-z]+-5|(opus|sonnet)-4[-.][6-9])/, 'anthropic', 1000, 128, both],
  [/^claude/, 'anthropic', 200, 32, both],
  [/^gemini/, 'gemini', 1048, 65, both],
  [/^deepseek-v([4-9]|\d\d)/, 'deepseek', 1000, 256, back],
  [/^deepseek-(v3|r1|reasoner)/, 'deepseek', 64, 8, { ...back, thinkingOrTools: true }],
  [/^deepseek/, 'deepseek', 128, 8, { echoReasoning: 'calls' }],
  [/^minimax-m[3-9]/, 'minimax', 1000, 128, both],
  [/^minimax/, 'minimax', 204, 128, thinks],
  [/^(kimi|grok|glm-[5-9]|qwen3)/, undefined, 128, 32, thinks],
  [/^(qwen.*vl|llava|pixtral|gemma-?[3-9])/, undefined, 32, 8, sees],
  [/^(tinyllama|llama-?2|codellama|gemma|phi-?[123]|starcoder|vicuna)/, undefined, 4, 1, { tools: false }],
];

/**
 * Looks up what is known of a model by its id, with a cautious guess for the rest, and the endpoint a bare id
 * of its family belongs to. Folders before it, as aggregators write them (`anthropic/claude-…`,
 * `models/gemini-…`), are not looked at.
 */
export function familyOf(id: string): { readonly capabilities: Capabilities; readonly endpoint?: string } {
  const bare = (id.split('/').pop() ?? id).toLowerCase();
  const family = families.find(([fits]) => fits.test(bare));
  if (!family) return { capabilities: unknown };
  const [, endpoint, window, answer, known] = family;
  const capabilities = { ...unknown, contextWindow: window * 1000, maxOutput: answer * 1000, ...known };
  return { capabilities, ...(endpoint !== undefined && { endpoint }) };
}

/** The tokens that this process has had of models, whoever asked: the conversation, sub-agents, summaries. */
export type UsageTotals = Record<Exclude<keyof Usage, 'estimated'>, number> & {
  /** The cost of the models whose price is known; missing when none was. */
  cost?: number;
};

/** Adds what one answer of a model took. */
export function addUsage(totals: UsageTotals, { capabilities: { price } }: Model, usage: Usage): void {
  for (const kind of ['input', 'output', 'cacheRead', 'cacheWrite'] as const) totals[kind] += usage[kind];
  const { input, output, cacheRead, cacheWrite } = usage;
  if (!price) return;
  const read = (input + cacheWrite) * price.input + cacheRead * (price.cacheRead ?? price.input);
  totals.cost = (totals.cost ?? 0) + (read + output * price.output) / 1e6;
}
