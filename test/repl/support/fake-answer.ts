/** What a scripted model says next: pieces in the order in which they stream, and how it misbehaves meanwhile. */

export type Piece =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'think'; readonly text: string }
  /** `args` as text is sent as it stands, be it JSON or not. */
  | { readonly type: 'call'; readonly name: string; readonly args: object | string; readonly id?: string }
  /** Nothing more is sent until this is resolved. */
  | { readonly type: 'wait'; readonly until: Promise<unknown> };

interface ScriptedUsage {
  /** All of the prompt, what came from a cache included. */
  readonly input: number;
  readonly output: number;
  readonly cached?: number;
}

export type Misbehaviour =
  // Anomalies of an answer.
  | 'missing_usage'
  | 'missing_index' // chat: calls come without `index`
  | 'missing_id' // chat: calls come without `id`
  | 'same_index' // chat: all calls have index 0
  | 'interleaved' // chat: the arguments of all calls arrive in turns
  | 'arguments_object' // chat: `arguments` is an object, not text
  | 'finish_stop' // chat: calls, but `finish_reason: "stop"`
  | 'json_instead_of_stream' // a whole answer in JSON though a stream was asked for
  | 'malformed_json' // the last call's arguments lose their last character
  | 'max_tokens_in_call' // the answer is cut in the middle of its last call
  | 'only_reasoning' // nothing but thoughts
  | 'overflow_silent' // usage says more was read than any window holds
  | 'overflow_length' // `length`, and not one token
  | 'window_exceeded' // anthropic: model_context_window_exceeded
  | 'filtered'
  // Streams that break.
  | 'no_finish_reason'
  | 'cut_socket' // after half of what was to be sent
  | 'cut_at_once' // before a single byte
  | 'error_in_stream' // overloaded, after half
  | 'broken_event' // an event that is no JSON
  // Refusals: answered as long as they are asked for in this way; without it, the step's answer.
  | 'streaming_refused'
  | 'stream_options_refused'
  | 'max_tokens_refused'
  | 'thinking_refused'
  | 'cache_control_refused'
  | 'encrypted_refused' // responses: no encrypted reasoning
  // Answers that are none.
  | 'overflow_400'
  | 'overflow_413'
  | '429_retry_after'
  | '429_then_ok'
  | '500_then_ok'
  | '529'
  | 'insufficient_quota'
  | 'key_refused'
  | 'not_found'
  | 'html_502'
  | 'html_200';

interface StepOptions {
  readonly misbehave?: Misbehaviour;
  /** Default: 10 read, 5 written. */
  readonly usage?: ScriptedUsage;
  /** Bytes of one write; each reaches the client by itself. Splits UTF-8 characters, tags and escapes. */
  readonly bytes?: number;
  /** Characters of one delta; default 6. */
  readonly delta?: number;
  /** Seconds of `retry-after` for the misbehaviour of that name; default 1. */
  readonly retryAfter?: number;
  /** chat: the name of the field for thoughts; default `reasoning_content`. */
  readonly reasoningField?: string;
}

export interface Step extends StepOptions {
  readonly pieces: readonly Piece[];
}

export const say = (text: string, options: StepOptions = {}): Step => step({ type: 'text', text }, options);
export const think = (text: string, options: StepOptions = {}): Step =>
  step({ type: 'think', text }, options);
export const wait = (until: Promise<unknown>): Step => step({ type: 'wait', until }, {});

export const call = (
  name: string,
  args: object | string = {},
  options: StepOptions & { id?: string } = {},
): Step => {
  const { id, ...others } = options;
  return step({ type: 'call', name, args, ...(id === undefined ? {} : { id }) }, others);
};

export const calls = (
  list: readonly { name: string; args?: object | string; id?: string }[],
  options: StepOptions = {},
): Step => ({
  pieces: list.map(({ args = {}, ...one }) => ({ type: 'call', args, ...one })),
  ...options,
});

/** An answer of several: `answer(think('…'), say('…'), wait(gate), call('…'), { bytes: 1 })`. Later options win. */
export const answer = (...parts: (Step | StepOptions)[]): Step =>
  Object.assign({}, ...parts, { pieces: parts.flatMap((part) => ('pieces' in part ? part.pieces : [])) });

/** Something that goes wrong; by default in an answer that says "Hello." or, where a call is needed, calls `lookup`. */
export function misbehave(kind: Misbehaviour, options: StepOptions = {}): Step {
  if (kind === 'only_reasoning') return think('Let me see.', { misbehave: kind, ...options });
  const needsCall = ['malformed_json', 'max_tokens_in_call', 'finish_stop', 'arguments_object', 'missing_id'];
  if (needsCall.includes(kind)) return call('lookup', { word: 'tool' }, { misbehave: kind, ...options });
  if (['missing_index', 'same_index', 'interleaved'].includes(kind)) {
    const two = [
      { name: 'lookup', args: { word: 'one' }, id: 'call_one' },
      { name: 'lookup', args: { word: 'two' }, id: 'call_two' },
    ];
    return calls(two, { misbehave: kind, ...options });
  }
  return say('Hello.', { misbehave: kind, ...options });
}

/** A promise the test resolves: what is scripted after `wait(gate.opened)` is sent when it calls `gate.open()`. */
export function gate(): { opened: Promise<void>; open(): void } {
  let open = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open: () => open() };
}

const step = (piece: Piece, options: StepOptions): Step => ({ pieces: [piece], ...options });
