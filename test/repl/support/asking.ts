import type { AssistantMessage, Message, Stop, UserMessage, Wire } from '../../../src/repl/message.ts';
import type { Model } from '../../../src/repl/models/model.ts';
import { createProvider, type ProviderOptions } from '../../../src/repl/providers/create-provider.ts';
import type {
  ModelEvent,
  ModelRequest,
  ProviderFailure,
  ToolDefinition,
} from '../../../src/repl/providers/provider.ts';

export const lookup: ToolDefinition = {
  name: 'lookup',
  description: 'Looks a word up.',
  inputSchema: { type: 'object', properties: { word: { type: 'string' } }, required: ['word'] },
};

export const user = (text: string): UserMessage => ({ role: 'user', content: [{ type: 'text', text }] });

export const asking = (
  messages: readonly Message[] = [user('Hello?')],
  more: Partial<ModelRequest> = {},
) => ({
  system: 'Be brief.',
  messages,
  tools: [lookup],
  ...more,
});

/** An answer as a session would hold it. */
export const said = (
  text: string,
  { model, ...more }: Partial<Omit<AssistantMessage, 'model'>> & { model?: Model } = {},
): AssistantMessage => ({
  role: 'assistant',
  text,
  reasoning: '',
  calls: [],
  stop: 'done' as Stop,
  usage: { input: 1, output: 1, cacheRead: 0, cacheWrite: 0, estimated: false },
  provider: model?.endpoint.name ?? 'another',
  model: model?.id ?? 'another-model',
  wire: model?.endpoint.wire ?? ('chat' as Wire),
  ...more,
});

export interface Outcome {
  readonly events: ModelEvent[];
  /** The text of all text events, and of all thoughts, that were not discarded. */
  readonly shown: string;
  readonly thought: string;
  readonly message?: AssistantMessage;
  readonly failure?: ProviderFailure;
  /** Milliseconds of every wait before another try. */
  readonly waits: number[];
}

/** Asks a model once; waits between tries are noted and not waited. `seen` gets every event as it comes. */
export async function ask(
  model: Model,
  request: ModelRequest = asking(),
  {
    signal,
    seen,
    ...options
  }: Partial<ProviderOptions> & {
    signal?: AbortSignal;
    seen?(event: ModelEvent): void;
  } = {},
): Promise<Outcome> {
  const waits: number[] = [];
  const sleep = async (ms: number) => void waits.push(ms);
  const provider = createProvider(model, { key: async () => 'sk-test', sleep, ...options });
  const events: ModelEvent[] = [];
  let failure: ProviderFailure | undefined;
  try {
    for await (const event of provider.stream(request, signal ?? new AbortController().signal)) {
      events.push(event);
      seen?.(event);
    }
  } catch (error) {
    failure = error as ProviderFailure;
  }
  let shown = '';
  let thought = '';
  for (const event of events) {
    if (event.type === 'text') shown += event.text;
    if (event.type === 'reasoning') thought += event.text;
    if (event.type === 'retry' && event.discard) shown = thought = '';
  }
  const last = events.at(-1);
  const message = last?.type === 'end' ? { message: last.message } : {};
  return { events, shown, thought, waits, ...message, ...(failure ? { failure } : {}) };
}
