// test/repl/support/fake-model.ts
import { once } from "node:events";
import { createServer } from "node:http";
import { performance } from "node:perf_hooks";

// test/repl/support/fake-failures.ts
var refusals = {
  streaming_refused: {
    message: "Streaming is not supported for this model.",
    asked: ({ body }) => body.stream === true
  },
  stream_options_refused: {
    message: "Unrecognized request argument supplied: stream_options",
    asked: ({ body }) => "stream_options" in body
  },
  max_tokens_refused: {
    message: "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
    asked: ({ body }) => "max_tokens" in body
  },
  max_completion_tokens_refused: {
    message: "Extra inputs are not permitted: max_completion_tokens",
    asked: ({ body }) => "max_completion_tokens" in body
  },
  thinking_refused: {
    message: "Unknown name: thinking, reasoning, reasoning_effort: this model does not think.",
    asked: ({ body }) => "thinking" in body || "reasoning" in body || "reasoning_effort" in body
  },
  adaptive_refused: {
    message: "thinking.type: adaptive is not supported by this model",
    asked: ({ body }) => body["thinking"]?.type === "adaptive"
  },
  schema_refused: {
    message: "This response_format / output_config / text.format is unavailable now",
    asked: ({ body }) => "response_format" in body || "output_config" in body || "text" in body
  },
  cache_control_refused: {
    message: "messages.0.content.0.cache_control: Extra inputs are not permitted",
    asked: ({ text }) => text.includes('"cache_control"')
  },
  effort_with_tools_refused: {
    message: "Function tools with reasoning_effort are not supported for this model in /v1/chat/completions. Please use /v1/responses instead.",
    asked: ({ body }) => "tools" in body && body["reasoning_effort"] !== "none"
  },
  encrypted_refused: {
    message: "Encrypted content is not supported with this model.",
    asked: ({ body }) => "include" in body
  }
};
var failures = {
  overflow_413: [413, "request_too_large", "Request exceeds the maximum size"],
  "429": [429, "rate_limit_error", "Rate limit reached", "rate_limit_exceeded"],
  "429_retry_after": [429, "rate_limit_error", "Rate limit reached", "rate_limit_exceeded"],
  "429_then_ok": [429, "rate_limit_error", "Rate limit reached", "rate_limit_exceeded"],
  "500": [500, "api_error", "Internal server error"],
  "500_then_ok": [500, "api_error", "Internal server error"],
  "529": [529, "overloaded_error", "Overloaded"],
  insufficient_quota: [
    429,
    "insufficient_quota",
    "You exceeded your current quota, please check your plan and billing details.",
    "insufficient_quota"
  ],
  key_refused: [401, "authentication_error", "Incorrect API key provided", "invalid_api_key"],
  not_found: [404, "not_found_error", "The model `fake-model` does not exist", "model_not_found"]
};
var overflow = {
  chat: [
    400,
    "invalid_request_error",
    "This model's maximum context length is 128000 tokens. However, your messages resulted in 130000 tokens.",
    "context_length_exceeded"
  ],
  responses: [
    400,
    "invalid_request_error",
    "Your input exceeds the context window of this model. Please adjust your input and try again.",
    "context_length_exceeded"
  ],
  anthropic: [400, "invalid_request_error", "prompt is too long: 213462 tokens > 200000 maximum"]
};
function failureFor(step2, request) {
  const kind = step2.misbehave;
  if (!kind) return void 0;
  if (kind === "cut_at_once") return { status: 0, type: "", headers: {}, body: "" };
  if (kind === "html_502") {
    return { status: 502, type: "text/html", headers: {}, body: "<html><body>502 Bad Gateway</body></html>" };
  }
  const refusal = refusals[kind];
  if (refusal) {
    if (!refusal.asked(request)) return void 0;
    return failure(request.wire, [400, "invalid_request_error", refusal.message], { next: step2 });
  }
  const facts = kind === "overflow_400" ? overflow[request.wire] : failures[kind];
  if (!facts) return void 0;
  const { misbehave: _, ...well } = step2;
  return failure(request.wire, facts, {
    ...kind.endsWith("_then_ok") ? { next: well } : {},
    ...kind === "429_retry_after" ? { headers: { "retry-after": String(step2.retryAfter ?? 1) } } : {}
  });
}
function failure(wire, [status, type, message, code = null], more) {
  const error = wire === "anthropic" ? { type, message } : { message, type, param: null, code };
  const body = JSON.stringify(wire === "anthropic" ? { type: "error", error } : { error });
  return {
    status,
    type: "application/json",
    headers: more.headers ?? {},
    body,
    ...more.next ? { next: more.next } : {}
  };
}

// test/repl/support/fake-wires.ts
var id = (prefix) => `${prefix}_${crypto.randomUUID().slice(0, 8)}`;
function argumentsOf(step2, piece) {
  const text = typeof piece.args === "string" ? piece.args : JSON.stringify(piece.args);
  const last = step2.pieces.findLast(({ type }) => type === "call") === piece;
  if (last && step2.misbehave === "malformed_json") return text.slice(0, -1);
  return last && step2.misbehave === "max_tokens_in_call" ? text.slice(0, Math.ceil(text.length / 2)) : text;
}
function deltas(text, step2) {
  const characters = [...text];
  const size = step2.delta ?? 6;
  return Array.from(
    { length: Math.ceil(characters.length / size) },
    (_, n) => characters.slice(n * size, (n + 1) * size).join("")
  );
}
function endOf(step2) {
  if (step2.misbehave === "max_tokens_in_call" || step2.misbehave === "overflow_length") return "length";
  if (step2.misbehave === "filtered") return "filtered";
  if (step2.misbehave === "window_exceeded") return "window";
  if (step2.misbehave === "pause_turn") return "pause";
  const calling = step2.pieces.some(({ type }) => type === "call") && step2.misbehave !== "finish_stop";
  return calling ? "calls" : "done";
}
function usageOf(step2) {
  if (step2.misbehave === "missing_usage") return void 0;
  if (step2.misbehave === "overflow_silent") return { input: 5e7, output: 5, cached: 0 };
  if (step2.misbehave === "overflow_length") return { input: 1e6, output: 0, cached: 0 };
  return { input: 10, output: 5, cached: 0, ...step2.usage };
}
var textOf = (step2, type) => step2.pieces.map((piece) => piece.type === type ? piece.text : "").join("");
var event = (name, data2) => `event: ${name}
data: ${JSON.stringify({ type: name, ...data2 })}

`;
var data = (value) => `data: ${JSON.stringify(value)}

`;
var chatStops = {
  done: "stop",
  calls: "tool_calls",
  length: "length",
  filtered: "content_filter",
  window: "length",
  pause: "stop"
};
function chatUsage(step2) {
  const usage = usageOf(step2);
  if (!usage) return void 0;
  const { input, output, cached } = usage;
  return {
    prompt_tokens: input,
    completion_tokens: output,
    total_tokens: input + output,
    ...cached > 0 ? { prompt_tokens_details: { cached_tokens: cached } } : {}
  };
}
function chatCall(step2, piece, index) {
  const without = index === void 0 || step2.misbehave === "missing_index";
  const place = without ? {} : { index: step2.misbehave === "same_index" ? 0 : index };
  const name = step2.misbehave === "missing_id" ? {} : { id: piece.id ?? id("call") };
  return { ...place, ...name, type: "function" };
}
var chat = {
  frames(step2, body) {
    const head = { id: id("chatcmpl"), object: "chat.completion.chunk", created: 1, model: body.model };
    const chunk = (delta, finish = null) => data({ ...head, choices: [{ index: 0, delta, finish_reason: finish }] });
    const frames = [": a comment\n\n", chunk({ role: "assistant", content: "" })];
    const late = [];
    let index = 0;
    for (const piece of step2.pieces) {
      if (piece.type === "wait") frames.push(piece.until);
      if (piece.type === "text") {
        frames.push(...deltas(piece.text, step2).map((content) => chunk({ content })));
      }
      if (piece.type === "think") {
        const field = step2.reasoningField ?? "reasoning_content";
        frames.push(...deltas(piece.text, step2).map((text) => chunk({ [field]: text })));
      }
      if (piece.type === "call") {
        const place = chatCall(step2, piece, index++);
        const begin = (args) => chunk({ tool_calls: [{ ...place, function: { name: piece.name, arguments: args } }] });
        if (step2.misbehave === "arguments_object") {
          frames.push(begin(piece.args));
          continue;
        }
        const { id: _, type: __, ...at } = place;
        const rest = deltas(argumentsOf(step2, piece), step2).map(
          (text) => chunk({ tool_calls: [{ ...at, function: { arguments: text } }] })
        );
        frames.push(begin(""));
        if (step2.misbehave === "interleaved") late.push(rest);
        else frames.push(...rest);
      }
    }
    for (let n = 0; late.some((list2) => n < list2.length); n++) {
      frames.push(...late.flatMap((list2) => list2.slice(n, n + 1)));
    }
    const usage = chatUsage(step2);
    const asked = body.stream_options?.include_usage === true;
    const counted = usage && asked ? [data({ ...head, choices: [], usage })] : [];
    return { body: frames, rest: [chunk({}, chatStops[endOf(step2)]), ...counted, "data: [DONE]\n\n"] };
  },
  whole(step2, body) {
    const calls2 = step2.pieces.flatMap(
      (piece) => piece.type === "call" ? [
        {
          ...chatCall(step2, piece),
          function: { name: piece.name, arguments: argumentsOf(step2, piece) }
        }
      ] : []
    );
    const thoughts = textOf(step2, "think");
    const message = {
      role: "assistant",
      content: textOf(step2, "text") || null,
      ...thoughts ? { [step2.reasoningField ?? "reasoning_content"]: thoughts } : {},
      ...calls2.length > 0 ? { tool_calls: calls2 } : {}
    };
    const choices = [{ index: 0, message, finish_reason: chatStops[endOf(step2)] }];
    const usage = chatUsage(step2);
    return {
      id: id("chatcmpl"),
      object: "chat.completion",
      created: 1,
      model: body.model,
      choices,
      ...usage ? { usage } : {}
    };
  },
  error: (type, message) => data({ error: { message, type, code: 503 } })
};
var anthropicStops = {
  done: "end_turn",
  calls: "tool_use",
  length: "max_tokens",
  filtered: "refusal",
  window: "model_context_window_exceeded",
  pause: "pause_turn"
};
var anthropicUsage = (step2) => {
  const { input, output, cached } = usageOf(step2) ?? { input: 0, output: 0, cached: 0 };
  return {
    input_tokens: input - cached,
    output_tokens: output,
    cache_read_input_tokens: cached,
    cache_creation_input_tokens: 0
  };
};
var anthropic = {
  frames(step2, body) {
    const message = { id: id("msg"), type: "message", role: "assistant", model: body.model, content: [] };
    const usage = anthropicUsage(step2);
    const frames = [
      event("message_start", {
        message: {
          ...message,
          stop_reason: null,
          stop_sequence: null,
          usage: { ...usage, output_tokens: 1 }
        }
      }),
      'event: ping\ndata: {"type":"ping"}\n\n'
    ];
    let index = -1;
    const begin = (block) => frames.push(event("content_block_start", { index: ++index, content_block: block }));
    const delta = (change) => frames.push(event("content_block_delta", { index, delta: change }));
    for (const piece of step2.pieces) {
      if (piece.type === "wait") {
        frames.push(piece.until);
        continue;
      }
      if (piece.type === "text") {
        begin({ type: "text", text: "" });
        for (const text of deltas(piece.text, step2)) delta({ type: "text_delta", text });
      }
      if (piece.type === "think") {
        begin({ type: "thinking", thinking: "", signature: "" });
        for (const thinking of deltas(piece.text, step2)) delta({ type: "thinking_delta", thinking });
        delta({ type: "signature_delta", signature: "SIG==" });
      }
      if (piece.type === "call") {
        begin({ type: "tool_use", id: piece.id ?? id("toolu"), name: piece.name, input: {} });
        const text = argumentsOf(step2, piece);
        for (const partial_json of text === "{}" ? [] : deltas(text, step2))
          delta({ type: "input_json_delta", partial_json });
      }
      frames.push(event("content_block_stop", { index }));
    }
    const end = { stop_reason: anthropicStops[endOf(step2)], stop_sequence: null };
    const counted = { output_tokens: usage.output_tokens };
    return {
      body: frames,
      rest: [event("message_delta", { delta: end, usage: counted }), event("message_stop", {})]
    };
  },
  whole: (step2, body) => ({
    id: id("msg"),
    type: "message",
    role: "assistant",
    model: body.model,
    content: step2.pieces.flatMap((piece) => {
      if (piece.type === "text") return [{ type: "text", text: piece.text }];
      if (piece.type === "think") return [{ type: "thinking", thinking: piece.text, signature: "SIG==" }];
      if (piece.type === "wait") return [];
      const input = typeof piece.args === "string" ? {} : piece.args;
      return [{ type: "tool_use", id: piece.id ?? id("toolu"), name: piece.name, input }];
    }),
    stop_reason: anthropicStops[endOf(step2)],
    stop_sequence: null,
    usage: anthropicUsage(step2)
  }),
  error: (type, message) => event("error", { error: { type, message } })
};

// test/repl/support/fake-responses.ts
var event2 = (name, data2) => `event: ${name}
data: ${JSON.stringify({ type: name, ...data2 })}

`;
function itemsOf(step2) {
  return step2.pieces.flatMap((piece) => {
    if (piece.type === "wait") return [{ item: {}, step: piece }];
    if (piece.type === "think") {
      const summary = [{ type: "summary_text", text: piece.text }];
      return [{ item: { type: "reasoning", id: id("rs"), summary, encrypted_content: "ENC" }, step: piece }];
    }
    if (piece.type === "text") {
      const content = [{ type: "output_text", text: piece.text, annotations: [] }];
      const item = { type: "message", id: id("msg"), role: "assistant", status: "completed", content };
      return [{ item, step: piece }];
    }
    const about = { type: "function_call", id: id("fc"), call_id: piece.id ?? id("call"), name: piece.name };
    return [{ item: { ...about, arguments: argumentsOf(step2, piece), status: "completed" }, step: piece }];
  });
}
function responseOf(step2, body, output) {
  const usage = usageOf(step2);
  const end = endOf(step2);
  const reason = { length: "max_output_tokens", filtered: "content_filter" }[end];
  return {
    id: id("resp"),
    object: "response",
    created_at: 1,
    model: body.model,
    status: reason ? "incomplete" : "completed",
    incomplete_details: reason ? { reason } : null,
    error: null,
    output,
    usage: usage && {
      input_tokens: usage.input,
      output_tokens: usage.output,
      input_tokens_details: { cached_tokens: usage.cached }
    }
  };
}
var responses = {
  frames(step2, body) {
    const items = itemsOf(step2);
    const output = items.flatMap(({ item, step: piece }) => piece.type === "wait" ? [] : [item]);
    const complete = responseOf(step2, body, output);
    const start = { ...complete, status: "in_progress", output: [], usage: null, incomplete_details: null };
    const frames = [event2("response.created", { response: start })];
    let index = -1;
    for (const { item, step: piece } of items) {
      if (piece.type === "wait") {
        frames.push(piece.until);
        continue;
      }
      const at = { output_index: ++index, item_id: item["id"] };
      const empty = {
        reasoning: { summary: [] },
        message: { content: [] },
        function_call: { arguments: "" }
      };
      const begun = { ...item, ...empty[item["type"]], status: "in_progress" };
      frames.push(event2("response.output_item.added", { ...at, item: begun }));
      const [name, text] = piece.type === "think" ? ["reasoning_summary_text", piece.text] : piece.type === "text" ? ["output_text", piece.text] : ["function_call_arguments", String(item["arguments"])];
      for (const delta of deltas(text, step2)) frames.push(event2(`response.${name}.delta`, { ...at, delta }));
      const cut = step2.misbehave === "max_tokens_in_call" && piece === step2.pieces.at(-1);
      if (!cut) frames.push(event2("response.output_item.done", { ...at, item }));
    }
    const type = complete["status"] === "incomplete" ? "response.incomplete" : "response.completed";
    return { body: frames, rest: [event2(type, { response: complete })] };
  },
  whole: (step2, body) => responseOf(
    step2,
    body,
    itemsOf(step2).flatMap(({ item, step: piece }) => piece.type === "wait" ? [] : [item])
  ),
  error: (type, message) => event2("error", { code: type, message, param: null })
};

// test/repl/support/fake-answer.ts
var say = (text, options = {}) => step({ type: "text", text }, options);
var think = (text, options = {}) => step({ type: "think", text }, options);
var wait = (until) => step({ type: "wait", until }, {});
var call = (name, args = {}, options = {}) => {
  const { id: id2, ...others } = options;
  return step({ type: "call", name, args, ...id2 === void 0 ? {} : { id: id2 } }, others);
};
var calls = (list2, options = {}) => ({
  pieces: list2.map(({ args = {}, ...one }) => ({ type: "call", args, ...one })),
  ...options
});
var answer = (...parts) => Object.assign({}, ...parts, { pieces: parts.flatMap((part) => "pieces" in part ? part.pieces : []) });
function misbehave(kind, options = {}) {
  if (kind === "only_reasoning") return think("Let me see.", { misbehave: kind, ...options });
  const needsCall = ["malformed_json", "max_tokens_in_call", "finish_stop", "arguments_object", "missing_id"];
  if (needsCall.includes(kind)) return call("lookup", { word: "tool" }, { misbehave: kind, ...options });
  if (["missing_index", "same_index", "interleaved"].includes(kind)) {
    const two = [
      { name: "lookup", args: { word: "one" }, id: "call_one" },
      { name: "lookup", args: { word: "two" }, id: "call_two" }
    ];
    return calls(two, { misbehave: kind, ...options });
  }
  return say("Hello.", { misbehave: kind, ...options });
}
function gate() {
  let open = () => {
  };
  const opened = new Promise((resolve) => open = resolve);
  return { opened, open: () => open() };
}
var step = (piece, options) => ({ pieces: [piece], ...options });

// test/repl/support/fake-model.ts
var formats = { chat, responses, anthropic };
async function startFakeModel() {
  const requests = [];
  const queue = [];
  let otherwise;
  const server = createServer((incoming, response) => {
    void serve(incoming, response).catch(() => response.destroy());
  });
  async function serve(incoming, response) {
    const path = incoming.url ?? "";
    if (incoming.method === "GET") return list(response, path);
    const wire = wireOf(path);
    if (!wire) return json(response, 404, { error: { message: `nothing at ${path}` } });
    const text = await bodyOf(incoming);
    const body = JSON.parse(text);
    const at = performance.now();
    const request = { wire, path, headers: incoming.headers, body, text, at, aborted: false };
    requests.push(request);
    response.on("close", () => request.aborted = !response.writableFinished);
    const scripted = queue.shift() ?? otherwise;
    if (!scripted) return json(response, 400, { error: { message: "fake model: nothing is scripted" } });
    const step2 = typeof scripted === "function" ? scripted(request) : scripted;
    const failure2 = failureFor(step2, request);
    if (!failure2) return answer2(response, request, step2);
    if (failure2.next) queue.unshift(failure2.next);
    if (failure2.status === 0) return void response.destroy();
    response.writeHead(failure2.status, { "content-type": failure2.type, ...failure2.headers });
    response.end(failure2.body);
  }
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const url = `http://127.0.0.1:${server.address().port}`;
  return {
    url,
    requests,
    script: (...steps) => void queue.push(...steps),
    otherwise: (next) => void (otherwise = next),
    left: () => queue.length,
    model: (wire, capabilities = {}) => ({
      endpoint: {
        name: "fake",
        wire,
        baseUrl: wire === "anthropic" ? url : `${url}/v1`,
        keyVariables: [],
        local: true
      },
      id: "fake-model",
      capabilities: { ...usual, ...capabilities }
    }),
    async close() {
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
    }
  };
}
var usual = {
  contextWindow: 1e5,
  maxOutput: 8e3,
  tools: true,
  images: true,
  thinking: false,
  thinkingOrTools: false,
  echoReasoning: "if_sent",
  streaming: true
};
async function answer2(response, request, step2) {
  const format = formats[request.wire];
  if (request.body.stream !== true || step2.misbehave === "json_instead_of_stream") {
    for (const piece of step2.pieces) if (piece.type === "wait") await piece.until;
    return json(response, 200, format.whole(step2, request.body));
  }
  response.writeHead(200, { "content-type": "text/event-stream; charset=utf-8" });
  response.flushHeaders();
  response.socket?.setNoDelay(true);
  const { body, rest } = format.frames(step2, request.body);
  const half = body.slice(0, Math.max(3, Math.ceil(body.length / 2)));
  switch (step2.misbehave) {
    case "cut_socket":
      await write(response, half, step2.bytes);
      return void response.destroy();
    case "error_in_stream":
      await write(
        response,
        [...half, format.error("overloaded_error", "The model is overloaded.")],
        step2.bytes
      );
      return void response.end();
    case "broken_event":
      await write(response, [...half, 'event: message\ndata: {"broken\n\n'], step2.bytes);
      return void response.end();
    case "no_finish_reason":
      await write(response, body, step2.bytes);
      return void response.end();
    default:
      await write(response, [...body, ...rest], step2.bytes);
      response.end();
  }
}
async function write(response, frames, bytes) {
  for (const frame of frames) {
    if (response.destroyed) return;
    if (typeof frame !== "string") {
      await frame;
      continue;
    }
    const all = Buffer.from(frame);
    const size = bytes ?? all.length;
    for (let begin = 0; begin < all.length && !response.destroyed; begin += size) {
      await new Promise((done) => response.write(all.subarray(begin, begin + size), done));
      if (bytes) await new Promise((done) => setImmediate(done));
    }
  }
}
function wireOf(path) {
  if (path.endsWith("/chat/completions")) return "chat";
  if (path.endsWith("/responses")) return "responses";
  return path.endsWith("/messages") ? "anthropic" : void 0;
}
async function bodyOf(incoming) {
  const chunks = [];
  for await (const chunk of incoming) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}
function json(response, status, value) {
  response.writeHead(status, { "content-type": "application/json" });
  response.end(JSON.stringify(value));
}
function list(response, path) {
  if (path.endsWith("/models")) return json(response, 200, { object: "list", data: [{ id: "fake-model" }] });
  if (path.endsWith("/api/tags")) return json(response, 200, { models: [{ name: "fake-model" }] });
  json(response, 404, { error: { message: `nothing at ${path}` } });
}
export {
  answer,
  call,
  calls,
  gate,
  misbehave,
  say,
  startFakeModel,
  think,
  wait
};
