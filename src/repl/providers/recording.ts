import { createHash } from 'node:crypto';
import { appendFileSync, readFileSync } from 'node:fs';
import { setImmediate } from 'node:timers/promises';
import { ChatError, type ChatErrorCode } from '../errors.ts';
import type { AssistantMessage } from '../message.ts';
import {
  ProviderFailure,
  type FailureFacts,
  type ModelEvent,
  type ModelRequest,
  type Provider,
} from './provider.ts';

/** One request as a line of a recording. */
interface Recorded {
  readonly v: 1;
  /** When it was made, in ms since 1970: lines are written when requests end. */
  readonly at: number;
  readonly request: Digest;
  readonly events: readonly { readonly ms: number; readonly event: ModelEvent }[];
  /** How it failed, if it did. */
  readonly failure?: { readonly code: ChatErrorCode; readonly message: string; readonly facts: FailureFacts };
}

/** Enough to say what differs, and nothing of what was said. */
interface Digest {
  readonly system: string;
  readonly tools: string;
  readonly messages: readonly string[];
}

/** The same provider, but what it answers is added to a file that only this person can read, one line a request. */
export function recording(provider: Provider, file: string): Provider {
  return {
    async *stream(request, signal) {
      const began = performance.now();
      const at = performance.timeOrigin + began;
      const events: { ms: number; event: ModelEvent }[] = [];
      let failure: Recorded['failure'];
      try {
        for await (const event of provider.stream(request, signal)) {
          events.push({ ms: Math.round(performance.now() - began), event });
          yield event;
        }
      } catch (error) {
        if (error instanceof ProviderFailure)
          failure = { code: error.code, message: error.message, facts: error.facts };
        throw error;
      } finally {
        const line: Recorded = { v: 1, at, request: digestOf(request), events, ...(failure && { failure }) };
        appendFileSync(file, `${JSON.stringify(line)}\n`, { mode: 0o600 });
      }
    },
  };
}

/**
 * Answers requests with what was recorded, in the order in which it was asked for, as fast as it is read. The requests need not be
 * the same; when there are more of them than answers, the ProviderFailure tells the first that was another. Throws USAGE for a
 * file that is no recording.
 */
export function replaying(file: string): Provider {
  const answers = recordedIn(file);
  let asked = 0;
  let difference: string | undefined;
  return {
    async *stream(request, signal) {
      const answer = answers[asked++];
      if (!answer)
        throw new ProviderFailure(
          'MODEL_REFUSED',
          `${file} has ${answers.length} answers, and this is request ${asked}. ${difference ?? 'All requests before it were as recorded.'}`,
          { retryable: false },
        );
      const differs = differenceOf(digestOf(request), answer.request);
      if (differs !== undefined)
        difference ??= `Request ${asked} was the first that was not as recorded: ${differs}.`;
      const said = { text: '', reasoning: '' };
      for (const { event } of answer.events) {
        // Keys and signals are looked at between events.
        await setImmediate();
        if (signal.aborted) {
          yield { type: 'end', message: { ...ending(answer), ...said, calls: [], stop: 'aborted' } };
          return;
        }
        if (event.type === 'text' || event.type === 'reasoning') said[event.type] += event.text;
        else if (event.type === 'retry' && event.discard) Object.assign(said, { text: '', reasoning: '' });
        yield event;
      }
      const { failure } = answer;
      if (failure) throw new ProviderFailure(failure.code, failure.message, failure.facts);
    },
  };
}

/** Who answered, for an answer that is cut short; its usage is not known. */
function ending({ events }: Recorded): AssistantMessage {
  const last = events.at(-1)?.event;
  const { provider, model, wire } =
    last?.type === 'end' ? last.message : { provider: 'replay', model: 'unknown', wire: 'chat' as const };
  const usage = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, estimated: true };
  return {
    role: 'assistant',
    text: '',
    reasoning: '',
    calls: [],
    stop: 'aborted',
    usage,
    provider,
    model,
    wire,
  };
}

function recordedIn(file: string): Recorded[] {
  let text;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    throw new ChatError('USAGE', `The recording ${file} cannot be read.`, { cause: error });
  }
  const lines = text.split('\n').flatMap((line, index) => {
    if (line.trim() === '') return [];
    try {
      const found = JSON.parse(line) as Recorded;
      if (found.v === 1 && Array.isArray(found.events) && Array.isArray(found.request.messages))
        return [found];
    } catch {
      // Said below, as for what is JSON but no recording.
    }
    throw new ChatError('USAGE', `${file}:${index + 1}: this is no line of a recording that --record made.`);
  });
  return lines.sort((a, b) => a.at - b.at);
}

const hash = (value: unknown): string =>
  createHash('sha256').update(JSON.stringify(value)).digest('hex').slice(0, 16);

const digestOf = ({ system, tools, messages }: ModelRequest): Digest => ({
  system: hash(system),
  tools: hash(tools),
  messages: messages.map((message) => `${message.role} ${hash(message)}`),
});

function differenceOf(now: Digest, then: Digest): string | undefined {
  if (now.system !== then.system) return 'the system prompt';
  if (now.tools !== then.tools) return 'the tools';
  const most = Math.max(now.messages.length, then.messages.length);
  for (let index = 0; index < most; index++) {
    if (now.messages[index] === then.messages[index]) continue;
    return `message ${index + 1} of ${now.messages.length} (${(now.messages[index] ?? 'none').split(' ')[0]})`;
  }
  return undefined;
}
