import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { performance } from 'node:perf_hooks';
import type { Wire } from '../../../src/repl/message.ts';
import type { Step } from './fake-answer.ts';
import { failureFor } from './fake-failures.ts';
import { responses } from './fake-responses.ts';
import { anthropic, chat, type Body, type Frame } from './fake-wires.ts';

export * from './fake-answer.ts';

export interface FakeRequest {
  readonly wire: Wire;
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: Body;
  /** The whole body as text, to look for words in. */
  readonly text: string;
  /** performance.now() of its arrival. */
  readonly at: number;
  /** The client went away before the answer was complete. */
  aborted: boolean;
}

type Scripted = Step | ((request: FakeRequest) => Step);

export interface FakeModel {
  /** `http://127.0.0.1:port`; the OpenAI wires live below `/v1`. */
  readonly url: string;
  /** Requests for answers, oldest first. */
  readonly requests: FakeRequest[];
  /** Answers for the next requests, in order, whatever their wire. */
  script(...steps: Scripted[]): void;
  /** What it tells of itself, by path: /props, /api/show. */
  readonly facts: Record<string, object>;
  /** What is answered when the script has run out. */
  otherwise(answer: (request: FakeRequest) => Step): void;
  /** Scripted answers nobody has asked for yet. */
  left(): number;
  close(): Promise<void>;
}

const formats = { chat, responses, anthropic };

/** A server on a free port that speaks all three wires and says what it is told to. */
export async function startFakeModel(): Promise<FakeModel> {
  const requests: FakeRequest[] = [];
  const queue: Scripted[] = [];
  const facts: Record<string, object> = {};
  let otherwise: ((request: FakeRequest) => Step) | undefined;

  const server = createServer((incoming, response) => {
    void serve(incoming, response).catch(() => response.destroy());
  });

  async function serve(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = incoming.url ?? '';
    const fact = facts[path];
    if (fact) return json(response, 200, fact);
    if (incoming.method === 'GET') return list(response, path);
    const wire = wireOf(path);
    if (!wire) return json(response, 404, { error: { message: `nothing at ${path}` } });
    const text = await bodyOf(incoming);
    const body = JSON.parse(text) as Body;
    const at = performance.now();
    const request: FakeRequest = { wire, path, headers: incoming.headers, body, text, at, aborted: false };
    requests.push(request);
    response.on('close', () => {
      request.aborted = !response.writableFinished;
    });
    const scripted = queue.shift() ?? otherwise;
    if (!scripted) return json(response, 400, { error: { message: 'fake model: nothing is scripted' } });
    const step = typeof scripted === 'function' ? scripted(request) : scripted;
    const failure = failureFor(step, request);
    if (!failure) return answer(response, request, step);
    if (failure.next) queue.unshift(failure.next);
    if (failure.status === 0) {
      response.destroy();
      return;
    }
    response.writeHead(failure.status, { 'content-type': failure.type, ...failure.headers });
    response.end(failure.body);
  }

  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url,
    requests,
    facts,
    script: (...steps) => {
      queue.push(...steps);
    },
    otherwise: (next) => {
      otherwise = next;
    },
    left: () => queue.length,
    async close() {
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
    },
  };
}

async function answer(response: ServerResponse, request: FakeRequest, step: Step): Promise<void> {
  const format = formats[request.wire];
  if (request.body.stream !== true || step.misbehave === 'json_instead_of_stream') {
    for (const piece of step.pieces) if (piece.type === 'wait') await piece.until;
    return json(response, 200, format.whole(step, request.body));
  }
  response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' });
  response.flushHeaders();
  response.socket?.setNoDelay(true);
  const { body, rest } = format.frames(step, request.body);
  // At least the answer's beginning is sent before a stream breaks.
  const half = body.slice(0, Math.max(3, Math.ceil(body.length / 2)));
  switch (step.misbehave) {
    case 'cut_socket':
      await write(response, half, step.bytes);
      response.destroy();
      return;
    case 'error_in_stream':
      await write(
        response,
        [...half, format.error('overloaded_error', 'The model is overloaded.')],
        step.bytes,
      );
      response.end();
      return;
    case 'broken_event':
      await write(response, [...half, 'event: message\ndata: {"broken\n\n'], step.bytes);
      response.end();
      return;
    case 'no_finish_reason':
      await write(response, body, step.bytes);
      response.end();
      return;
    default:
      await write(response, [...body, ...rest], step.bytes);
      response.end();
  }
}

async function write(response: ServerResponse, frames: readonly Frame[], bytes?: number): Promise<void> {
  for (const frame of frames) {
    if (response.destroyed) return;
    if (typeof frame !== 'string') {
      await frame;
      continue;
    }
    const all = Buffer.from(frame);
    const size = bytes ?? all.length;
    for (let begin = 0; begin < all.length && !response.destroyed; begin += size) {
      await new Promise((done) => response.write(all.subarray(begin, begin + size), done));
      // Lets the client read this piece before the next is sent.
      if (bytes) await new Promise((done) => setImmediate(done));
    }
  }
}

function wireOf(path: string): Wire | undefined {
  if (path.endsWith('/chat/completions')) return 'chat';
  if (path.endsWith('/responses')) return 'responses';
  return path.endsWith('/messages') ? 'anthropic' : undefined;
}

async function bodyOf(incoming: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}

function json(response: ServerResponse, status: number, value: object): void {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(value));
}

/** What local servers are asked to find out whether they are there, and what they have. */
function list(response: ServerResponse, path: string): void {
  if (path.endsWith('/models')) return json(response, 200, { object: 'list', data: [{ id: 'fake-model' }] });
  if (path.endsWith('/api/tags')) return json(response, 200, { models: [{ name: 'fake-model' }] });
  json(response, 404, { error: { message: `nothing at ${path}` } });
}
