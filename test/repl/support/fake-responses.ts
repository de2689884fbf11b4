import type { Step } from './fake-answer.ts';
import { argumentsOf, deltas, endOf, id, usageOf, type Body, type Frame, type Frames } from './fake-wires.ts';

const event = (name: string, data: object): string =>
  `event: ${name}\ndata: ${JSON.stringify({ type: name, ...data })}\n\n`;

/** The items of an answer, complete. */
function itemsOf(step: Step): { item: Record<string, unknown>; step: Step['pieces'][number] }[] {
  return step.pieces.flatMap((piece): ReturnType<typeof itemsOf> => {
    if (piece.type === 'wait') return [{ item: {}, step: piece }];
    if (piece.type === 'think') {
      const summary = [{ type: 'summary_text', text: piece.text }];
      return [{ item: { type: 'reasoning', id: id('rs'), summary, encrypted_content: 'ENC' }, step: piece }];
    }
    if (piece.type === 'text') {
      const content = [{ type: 'output_text', text: piece.text, annotations: [] }];
      const item = { type: 'message', id: id('msg'), role: 'assistant', status: 'completed', content };
      return [{ item, step: piece }];
    }
    const about = { type: 'function_call', id: id('fc'), call_id: piece.id ?? id('call'), name: piece.name };
    return [{ item: { ...about, arguments: argumentsOf(step, piece), status: 'completed' }, step: piece }];
  });
}

function responseOf(step: Step, body: Body, output: readonly object[]): Record<string, unknown> {
  const usage = usageOf(step);
  const end = endOf(step);
  const reason = { length: 'max_output_tokens', filtered: 'content_filter' }[end as 'length' | 'filtered'];
  return {
    id: id('resp'),
    object: 'response',
    created_at: 1,
    model: body.model,
    status: reason ? 'incomplete' : 'completed',
    incomplete_details: reason ? { reason } : null,
    error: null,
    output,
    usage: usage && {
      input_tokens: usage.input,
      output_tokens: usage.output,
      input_tokens_details: { cached_tokens: usage.cached },
    },
  };
}

export const responses = {
  frames(step: Step, body: Body): Frames {
    const items = itemsOf(step);
    const output = items.flatMap(({ item, step: piece }) => (piece.type === 'wait' ? [] : [item]));
    const complete = responseOf(step, body, output);
    const start = { ...complete, status: 'in_progress', output: [], usage: null, incomplete_details: null };
    const frames: Frame[] = [event('response.created', { response: start })];
    let index = -1;
    for (const { item, step: piece } of items) {
      if (piece.type === 'wait') {
        frames.push(piece.until);
        continue;
      }
      const at = { output_index: ++index, item_id: item['id'] };
      const empty = {
        reasoning: { summary: [] },
        message: { content: [] },
        function_call: { arguments: '' },
      };
      const begun = { ...item, ...empty[item['type'] as keyof typeof empty], status: 'in_progress' };
      frames.push(event('response.output_item.added', { ...at, item: begun }));
      const [name, text] =
        piece.type === 'think'
          ? ['reasoning_summary_text', piece.text]
          : piece.type === 'text'
            ? ['output_text', piece.text]
            : ['function_call_arguments', String(item['arguments'])];
      for (const delta of deltas(text, step)) frames.push(event(`response.${name}.delta`, { ...at, delta }));
      // An answer that is cut in a call never says that the call's item is done.
      const cut = step.misbehave === 'max_tokens_in_call' && piece === step.pieces.at(-1);
      if (!cut) frames.push(event('response.output_item.done', { ...at, item }));
    }
    const type = complete['status'] === 'incomplete' ? 'response.incomplete' : 'response.completed';
    return { body: frames, rest: [event(type, { response: complete })] };
  },
  whole: (step: Step, body: Body): object =>
    responseOf(
      step,
      body,
      itemsOf(step).flatMap(({ item, step: piece }) => (piece.type === 'wait' ? [] : [item])),
    ),
  error: (type: string, message: string): string => event('error', { code: type, message, param: null }),
};
