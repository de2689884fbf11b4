// A model on loopback for programs that others wrote: it calls one tool, and ends once it was shown what that found. It
// speaks the protocols of Anthropic (messages), OpenAI (chat completions, responses) and Gemini.
import { createServer } from 'node:http';

/** Whoever gets no result asks again and again. */
const mostAsked = 8;

/** Answers until it is closed. `seen` says whether the tool's result came back; `offered`, which tools there were. */
export async function startModel({ tool, args, result }) {
  let asked = 0;
  const model = { url: '', seen: false, offered: [], close: () => server.close() };
  const server = createServer(async (request, response) => {
    let text = '';
    for await (const chunk of request) text += chunk;
    const wire = Object.values(wires).find(({ path }) => path.test(request.url));
    if (request.method !== 'POST' || !wire) return send(response, { object: 'list', data: [] });
    const body = JSON.parse(text || '{}');
    const names = wire.tools(body);
    if (names.length > model.offered.length) model.offered = names.map(({ name }) => name);
    model.seen ||= text.includes(result);
    const isDone = model.seen || asked >= mostAsked;
    if (!model.seen) asked += 1;
    const call = isDone ? undefined : callOf(names, tool, args);
    const streams = body.stream === true || request.url.includes('stream');
    const events = wire.answer(call, body.model);
    return streams ? stream(response, events) : send(response, wire.whole(call, body.model));
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  model.url = `http://127.0.0.1:${server.address().port}`;
  return model;
}

/** The call of our tool; by the host's search where it hides what servers offer. */
function callOf(names, tool, args) {
  const ours = names.find(({ name, namespace = '' }) =>
    new RegExp(`toolcrib[\\W_]+${tool}$`).test(`${namespace} ${name}`),
  );
  if (ours) return { ...ours, args };
  const full = `mcp__toolcrib__${tool}`;
  if (names.some(({ name }) => name === 'tool_call'))
    return { name: 'tool_call', args: { name: full, arguments: args } };
  const search = names.find(({ name }) => name === 'ToolSearch');
  return search && { ...search, args: { query: `select:${full}` } };
}

function send(response, value) {
  response.writeHead(200, { 'content-type': 'application/json' });
  response.end(JSON.stringify(value));
}

function stream(response, events) {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  for (const event of events) {
    if (event.type) response.write(`event: ${event.type}\n`);
    response.write(`data: ${typeof event === 'string' ? event : JSON.stringify(event)}\n\n`);
  }
  response.end();
}

let count = 0;
const id = (prefix) => {
  count += 1;
  return `${prefix}_${count}`;
};
const said = 'That is all.';

const wires = {
  anthropic: {
    path: /\/messages(?:\?|$)/,
    tools: ({ tools = [] }) => tools,
    whole: (call, model) => ({
      id: id('msg'),
      type: 'message',
      role: 'assistant',
      model,
      content: [
        call
          ? { type: 'tool_use', id: id('toolu'), name: call.name, input: call.args }
          : { type: 'text', text: said },
      ],
      stop_reason: call ? 'tool_use' : 'end_turn',
      stop_sequence: null,
      usage: { input_tokens: 1, output_tokens: 1 },
    }),
    answer(call, model) {
      const whole = this.whole(call, model);
      const [block] = whole.content;
      const delta = call
        ? { type: 'input_json_delta', partial_json: JSON.stringify(call.args) }
        : { type: 'text_delta', text: said };
      const empty = call ? { ...block, input: {} } : { ...block, text: '' };
      return [
        { type: 'message_start', message: { ...whole, content: [], stop_reason: null } },
        { type: 'content_block_start', index: 0, content_block: empty },
        { type: 'content_block_delta', index: 0, delta },
        { type: 'content_block_stop', index: 0 },
        {
          type: 'message_delta',
          delta: { stop_reason: whole.stop_reason, stop_sequence: null },
          usage: { output_tokens: 1 },
        },
        { type: 'message_stop' },
      ];
    },
  },
  chat: {
    path: /\/chat\/completions/,
    tools: ({ tools = [] }) => tools.map((tool) => tool.function ?? tool),
    whole(call, model) {
      const made = { id: id('call'), type: 'function' };
      const calls = call && [
        { ...made, function: { name: call.name, arguments: JSON.stringify(call.args) } },
      ];
      const message = { role: 'assistant', content: call ? null : said, ...(calls && { tool_calls: calls }) };
      const finish = call ? 'tool_calls' : 'stop';
      const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };
      const choices = [{ index: 0, message, finish_reason: finish }];
      return { id: id('chatcmpl'), object: 'chat.completion', created: 1, model, choices, usage };
    },
    answer(call, model) {
      const { choices, usage, ...rest } = this.whole(call, model);
      const [{ message, finish_reason: finish }] = choices;
      const delta = { ...message, tool_calls: message.tool_calls?.map((one, index) => ({ index, ...one })) };
      const chunk = (more) => ({ ...rest, object: 'chat.completion.chunk', ...more });
      return [
        chunk({ choices: [{ index: 0, delta, finish_reason: null }] }),
        chunk({ choices: [{ index: 0, delta: {}, finish_reason: finish }] }),
        chunk({ choices: [], usage }),
        '[DONE]',
      ];
    },
  },
  responses: {
    path: /\/responses(?:\?|$)/,
    tools: ({ tools = [] }) =>
      tools.flatMap((tool) =>
        tool.type === 'namespace'
          ? (tool.tools ?? []).map(({ name }) => ({ name, namespace: tool.name }))
          : [{ name: tool.name ?? tool.type }],
      ),
    whole: (call, model) => ({
      id: id('resp'),
      object: 'response',
      created_at: 1,
      status: 'completed',
      model,
      output: [
        call
          ? {
              type: 'function_call',
              id: id('fc'),
              call_id: id('call'),
              name: call.name,
              ...(call.namespace && { namespace: call.namespace }),
              arguments: JSON.stringify(call.args),
              status: 'completed',
            }
          : {
              type: 'message',
              id: id('msg'),
              role: 'assistant',
              status: 'completed',
              content: [{ type: 'output_text', text: said, annotations: [] }],
            },
      ],
      usage: { input_tokens: 1, output_tokens: 1, total_tokens: 2 },
    }),
    answer(call, model) {
      const response = this.whole(call, model);
      const [item] = response.output;
      return [
        { type: 'response.created', response: { ...response, status: 'in_progress', output: [] } },
        { type: 'response.output_item.added', output_index: 0, item },
        { type: 'response.output_item.done', output_index: 0, item },
        { type: 'response.completed', response },
      ].map((event, at) => ({ ...event, sequence_number: at }));
    },
  },
  gemini: {
    path: /generateContent/i,
    tools: ({ tools = [] }) => tools.flatMap(({ functionDeclarations = [] }) => functionDeclarations),
    whole: (call, model) => ({
      candidates: [
        {
          index: 0,
          content: {
            role: 'model',
            parts: [call ? { functionCall: { name: call.name, args: call.args } } : { text: said }],
          },
          finishReason: 'STOP',
        },
      ],
      usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 },
      modelVersion: model,
    }),
    answer(call, model) {
      return [this.whole(call, model)];
    },
  },
};
