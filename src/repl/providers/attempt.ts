import { estimateMessage, estimateTokens, estimateTools } from '../context/tokens.ts';
import type { AssistantMessage } from '../message.ts';
import type { Model } from '../models/model.ts';
import { isObject, tooDeep, wellFormed } from '../text/json.ts';
import { anthropicWire } from './anthropic.ts';
import { chatWire } from './chat.ts';
import { ProviderFailure, type Body, type ModelEvent, type ModelRequest } from './provider.ts';
import { without } from './refusals.ts';
import { responsesWire } from './responses.ts';
import { clientOf } from './sdk-client.ts';
import { TextFilter } from './text-filter.ts';
import type { AnswerEnd, WireFormat } from './wire.ts';
import { asXml } from './xml-prompt.ts';

const wires: Readonly<Record<Model['endpoint']['wire'], WireFormat>> = {
  chat: chatWire,
  responses: responsesWire,
  anthropic: anthropicWire,
};

interface Connection {
  readonly model: Model;
  /** What the endpoint is known not to take. */
  readonly refused: ReadonlySet<string>;
  readonly key: string | undefined;
  readonly fetch: typeof fetch;
  readonly signal: AbortSignal;
}

/** One try: what is sent, and what came of it so far. */
export class Attempt {
  readonly body: Body;
  streamed = false;
  private readonly request: ModelRequest;
  private readonly sent: ModelRequest;
  private readonly connection: Connection;
  private readonly said = { text: '', reasoning: '' };

  constructor(request: ModelRequest, connection: Connection) {
    const { model, refused } = connection;
    this.request = request;
    this.connection = connection;
    this.sent = model.capabilities.tools ? request : asXml(request);
    const body = wires[model.endpoint.wire].body(this.sent, model, refused);
    this.body = wellFormed(without(body, refused));
  }

  /** The last event is `end`. Errors are thrown as the SDK makes them. */
  async *answer(): AsyncGenerator<ModelEvent, void> {
    const { model, signal } = this.connection;
    signal.throwIfAborted();
    const wire = wires[model.endpoint.wire];
    const client = await clientOf(this.connection);
    const stream = this.body['stream'] === true;
    const sent = client.post(wire.path, { body: this.body, stream, signal });
    const { data, response } = await sent.withResponse();
    const reader = wire.reader(this.request);
    // The other wires have a place of their own for thoughts.
    const thoughts = model.endpoint.wire === 'chat';
    const { tools } = this.request;
    const filter = new TextFilter({ thoughts, tools, native: model.capabilities.tools });
    for await (const event of rawEvents(data, response, wire)) {
      // Parts of an answer are kept, and sent back, as they came: one that cannot be written would spoil the session.
      if (tooDeep(event)) throw new ProviderFailure('MODEL_REFUSED', 'The answer is nested too deeply.');
      for (const piece of reader.read(event as never))
        yield* this.say(piece.type === 'text' ? filter.push(piece.text) : [piece]);
    }
    // An abort may end the events without a word.
    signal.throwIfAborted();
    const end = reader.end();
    yield* this.say(filter.end());
    yield { type: 'end', message: this.message(filter.withCalls(end)) };
  }

  /** The end of one that was interrupted, with what had been said until then. */
  interrupted(): ModelEvent {
    return { type: 'end', message: this.message({ calls: [], stop: 'aborted', usage: undefined }) };
  }

  private *say(events: Iterable<ModelEvent>): Generator<ModelEvent> {
    for (const event of events) {
      // What is still on its way to us then is not part of the answer.
      this.connection.signal.throwIfAborted();
      this.streamed = true;
      if (event.type === 'text' || event.type === 'reasoning') this.said[event.type] += event.text;
      yield event;
    }
  }

  /** Where the provider did not count tokens, they are estimated. */
  private message({ native, usage, calls, stop }: AnswerEnd): AssistantMessage {
    const { endpoint, id } = this.connection.model;
    const { system, messages, tools } = this.sent;
    const isCounted = usage && usage.input + usage.cacheRead + usage.cacheWrite + usage.output > 0;
    const text = [this.said.text, this.said.reasoning, ...calls.map((call) => call.arguments)].join('');
    const estimate = () => ({
      input: messages.reduce(
        (sum, each) => sum + estimateMessage(each),
        estimateTokens(system) + estimateTools(tools),
      ),
      output: estimateTokens(text),
      cacheRead: 0,
      cacheWrite: 0,
      estimated: true,
    });
    return {
      role: 'assistant',
      ...this.said,
      calls,
      stop,
      usage: isCounted ? { ...usage, estimated: false } : estimate(),
      provider: endpoint.name,
      model: id,
      wire: endpoint.wire,
      ...(native !== undefined && { native }),
    };
  }
}

/** Servers that make no stream answer a request for one with the whole. */
async function* rawEvents(data: unknown, response: Response, wire: WireFormat): AsyncGenerator<unknown> {
  const streams = typeof data === 'object' && data !== null && Symbol.asyncIterator in data;
  const json = /^application\/(\w+\+)?json/.test(response.headers.get('content-type') ?? '');
  if (streams && !json) return yield* data as AsyncIterable<unknown>;
  const whole: unknown = streams ? await response.json() : data;
  if (!isObject(whole)) throw new Error('the answer is no JSON object');
  // Routers answer 200 with an error inside.
  if (whole['error']) throw Object.assign(new Error('the answer is an error'), { error: whole['error'] });
  yield* wire.asEvents(whole);
}
