import type { Piece, Step } from './fake-answer.ts';

/** What is written, in order: text, or a promise to wait for. */
export type Frame = string | Promise<unknown>;

/** `rest` tells that the answer is complete; a stream that breaks never comes to it. */
export interface Frames {
  readonly body: readonly Frame[];
  readonly rest: readonly string[];
}

export type Body = Record<string, unknown> & { model?: string; stream?: boolean };

interface WireFormat {
  frames(step: Step, body: Body): Frames;
  /** The answer for a request that asked for no stream. */
  whole(step: Step, body: Body): object;
  /** An error inside the stream. */
  error(type: string, message: string): string;
}

export const id = (prefix: string): string => `${prefix}_${crypto.randomUUID().slice(0, 8)}`;

/** The text of a call's arguments, as the step wants it. */
export function argumentsOf(step: Step, piece: Piece & { type: 'call' }): string {
  const text = typeof piece.args === 'string' ? piece.args : JSON.stringify(piece.args);
  const last = step.pieces.findLast(({ type }) => type === 'call') === piece;
  if (last && step.misbehave === 'malformed_json') return text.slice(0, -1);
  return last && step.misbehave === 'max_tokens_in_call' ? text.slice(0, Math.ceil(text.length / 2)) : text;
}

/** A text in the deltas in which a model would send it; never splits a character, as JSON could not hold one half. */
export function deltas(text: string, step: Step): string[] {
  const characters = [...text];
  const size = step.delta ?? 6;
  return Array.from({ length: Math.ceil(characters.length / size) }, (_, n) =>
    characters.slice(n * size, (n + 1) * size).join(''),
  );
}

/** What the model says of its end, in our words. */
export function endOf(step: Step): 'done' | 'calls' | 'length' | 'filtered' | 'window' {
  if (step.misbehave === 'max_tokens_in_call' || step.misbehave === 'overflow_length') return 'length';
  if (step.misbehave === 'filtered') return 'filtered';
  if (step.misbehave === 'window_exceeded') return 'window';
  const calling = step.pieces.some(({ type }) => type === 'call') && step.misbehave !== 'finish_stop';
  return calling ? 'calls' : 'done';
}

export function usageOf(step: Step): { input: number; output: number; cached: number } | undefined {
  if (step.misbehave === 'missing_usage') return undefined;
  if (step.misbehave === 'overflow_silent') return { input: 50_000_000, output: 5, cached: 0 };
  if (step.misbehave === 'overflow_length') return { input: 1_000_000, output: 0, cached: 0 };
  return { input: 10, output: 5, cached: 0, ...step.usage };
}

/** All pieces of one kind as one text. */
export const textOf = (step: Step, type: 'text' | 'think'): string =>
  step.pieces.map((piece) => (piece.type === type ? piece.text : '')).join('');

const event = (name: string, data: object): string =>
  `event: ${name}\ndata: ${JSON.stringify({ type: name, ...data })}\n\n`;
const data = (value: object): string => `data: ${JSON.stringify(value)}\n\n`;

// Chat completions.

const chatStops = {
  done: 'stop',
  calls: 'tool_calls',
  length: 'length',
  filtered: 'content_filter',
  window: 'length',
};

function chatUsage(step: Step): object | undefined {
  const usage = usageOf(step);
  if (!usage) return undefined;
  const { input, output, cached } = usage;
  return {
    prompt_tokens: input,
    completion_tokens: output,
    total_tokens: input + output,
    ...(cached > 0 ? { prompt_tokens_details: { cached_tokens: cached } } : {}),
  };
}

/** `index` is only in streams. */
function chatCall(step: Step, piece: Piece & { type: 'call' }, index?: number) {
  const without = index === undefined || step.misbehave === 'missing_index';
  const place = without ? {} : { index: step.misbehave === 'same_index' ? 0 : index };
  const name = step.misbehave === 'missing_id' ? {} : { id: piece.id ?? id('call') };
  return { ...place, ...name, type: 'function' };
}

export const chat: WireFormat = {
  frames(step, body) {
    const head = { id: id('chatcmpl'), object: 'chat.completion.chunk', created: 1, model: body.model };
    const chunk = (delta: object, finish: string | null = null) =>
      data({ ...head, choices: [{ index: 0, delta, finish_reason: finish }] });
    const frames: Frame[] = [': a comment\n\n', chunk({ role: 'assistant', content: '' })];
    const late: string[][] = [];
    let index = 0;
    for (const piece of step.pieces) {
      if (piece.type === 'wait') frames.push(piece.until);
      if (piece.type === 'text') {
        frames.push(...deltas(piece.text, step).map((content) => chunk({ content })));
      }
      if (piece.type === 'think') {
        const field = step.reasoningField ?? 'reasoning_content';
        frames.push(...deltas(piece.text, step).map((text) => chunk({ [field]: text })));
      }
      if (piece.type === 'call') {
        const place = chatCall(step, piece, index++);
        const begin = (args: unknown) =>
          chunk({ tool_calls: [{ ...place, function: { name: piece.name, arguments: args } }] });
        if (step.misbehave === 'arguments_object') {
          frames.push(begin(piece.args));
          continue;
        }
        const { id: _, type: __, ...at } = place as { id?: string; type: string };
        const rest = deltas(argumentsOf(step, piece), step).map((text) =>
          chunk({ tool_calls: [{ ...at, function: { arguments: text } }] }),
        );
        frames.push(begin(''));
        if (step.misbehave === 'interleaved') late.push(rest);
        else frames.push(...rest);
      }
    }
    for (let n = 0; late.some((list) => n < list.length); n++) {
      frames.push(...late.flatMap((list) => list.slice(n, n + 1)));
    }
    const usage = chatUsage(step);
    const asked = (body.stream_options as { include_usage?: boolean } | undefined)?.include_usage === true;
    const counted = usage && asked ? [data({ ...head, choices: [], usage })] : [];
    return { body: frames, rest: [chunk({}, chatStops[endOf(step)]), ...counted, 'data: [DONE]\n\n'] };
  },
  whole(step, body) {
    const calls = step.pieces.flatMap((piece) =>
      piece.type === 'call'
        ? [
            {
              ...chatCall(step, piece),
              function: { name: piece.name, arguments: argumentsOf(step, piece) },
            },
          ]
        : [],
    );
    const thoughts = textOf(step, 'think');
    const message = {
      role: 'assistant',
      content: textOf(step, 'text') || null,
      ...(thoughts ? { [step.reasoningField ?? 'reasoning_content']: thoughts } : {}),
      ...(calls.length > 0 ? { tool_calls: calls } : {}),
    };
    const choices = [{ index: 0, message, finish_reason: chatStops[endOf(step)] }];
    const usage = chatUsage(step);
    return {
      id: id('chatcmpl'),
      object: 'chat.completion',
      created: 1,
      model: body.model,
      choices,
      ...(usage ? { usage } : {}),
    };
  },
  error: (type, message) => data({ error: { message, type, code: 503 } }),
};

// Anthropic messages.

const anthropicStops = {
  done: 'end_turn',
  calls: 'tool_use',
  length: 'max_tokens',
  filtered: 'refusal',
  window: 'model_context_window_exceeded',
};

const anthropicUsage = (step: Step) => {
  const { input, output, cached } = usageOf(step) ?? { input: 0, output: 0, cached: 0 };
  return {
    input_tokens: input - cached,
    output_tokens: output,
    cache_read_input_tokens: cached,
    cache_creation_input_tokens: 0,
  };
};

export const anthropic: WireFormat = {
  frames(step, body) {
    const message = { id: id('msg'), type: 'message', role: 'assistant', model: body.model, content: [] };
    const usage = anthropicUsage(step);
    const frames: Frame[] = [
      event('message_start', {
        message: {
          ...message,
          stop_reason: null,
          stop_sequence: null,
          usage: { ...usage, output_tokens: 1 },
        },
      }),
      'event: ping\ndata: {"type":"ping"}\n\n',
    ];
    let index = -1;
    const begin = (block: object) =>
      frames.push(event('content_block_start', { index: ++index, content_block: block }));
    const delta = (change: object) => frames.push(event('content_block_delta', { index, delta: change }));
    for (const piece of step.pieces) {
      if (piece.type === 'wait') {
        frames.push(piece.until);
        continue;
      }
      if (piece.type === 'text') {
        begin({ type: 'text', text: '' });
        for (const text of deltas(piece.text, step)) delta({ type: 'text_delta', text });
      }
      if (piece.type === 'think') {
        begin({ type: 'thinking', thinking: '', signature: '' });
        for (const thinking of deltas(piece.text, step)) delta({ type: 'thinking_delta', thinking });
        delta({ type: 'signature_delta', signature: 'SIG==' });
      }
      if (piece.type === 'call') {
        begin({ type: 'tool_use', id: piece.id ?? id('toolu'), name: piece.name, input: {} });
        const text = argumentsOf(step, piece);
        for (const partial_json of text === '{}' ? [] : deltas(text, step))
          delta({ type: 'input_json_delta', partial_json });
      }
      frames.push(event('content_block_stop', { index }));
    }
    const end = { stop_reason: anthropicStops[endOf(step)], stop_sequence: null };
    const counted = { output_tokens: usage.output_tokens };
    return {
      body: frames,
      rest: [event('message_delta', { delta: end, usage: counted }), event('message_stop', {})],
    };
  },
  whole: (step, body) => ({
    id: id('msg'),
    type: 'message',
    role: 'assistant',
    model: body.model,
    content: step.pieces.flatMap((piece): object[] => {
      if (piece.type === 'text') return [{ type: 'text', text: piece.text }];
      if (piece.type === 'think') return [{ type: 'thinking', thinking: piece.text, signature: 'SIG==' }];
      if (piece.type === 'wait') return [];
      const input = typeof piece.args === 'string' ? {} : piece.args;
      return [{ type: 'tool_use', id: piece.id ?? id('toolu'), name: piece.name, input }];
    }),
    stop_reason: anthropicStops[endOf(step)],
    stop_sequence: null,
    usage: anthropicUsage(step),
  }),
  error: (type, message) => event('error', { error: { type, message } }),
};
