import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import type { ReadableStream } from 'node:stream/web';
import { pipeline } from 'node:stream/promises';

/** As much as a message over standard input may have. */
export const mostBytes = 10 * 1024 * 1024;

/** The whole body; undefined when it has more than a message may. Rejects when the client leaves before its end. */
export function readBody(incoming: IncomingMessage): Promise<Buffer | undefined> {
  return new Promise((resolve, reject) => {
    if (Number(incoming.headers['content-length'] ?? 0) > mostBytes) return resolve(undefined);
    const chunks: Buffer[] = [];
    let length = 0;
    incoming.on('data', (chunk: Buffer) => {
      length += chunk.length;
      if (length <= mostBytes) return void chunks.push(chunk);
      incoming.pause();
      resolve(undefined);
    });
    incoming.once('end', () => resolve(Buffer.concat(chunks)));
    incoming.once('error', reject).once('close', () => reject(new Error('the client has left')));
  });
}

/** A request as the SDK takes it, without its body. The signal comes when the client leaves before it is answered. */
export function webRequest(incoming: IncomingMessage, response: ServerResponse): Request {
  const headers = new Headers();
  for (const [name, value] of Object.entries(incoming.headersDistinct))
    for (const each of value ?? []) headers.append(name, each);
  const left = new AbortController();
  response.once('close', () => {
    if (!response.writableFinished) left.abort();
  });
  const { method = 'GET', url = '/' } = incoming;
  return new Request(new URL(url, 'http://localhost'), { method, headers, signal: left.signal });
}

/** Sends what the SDK answers; returns when it is sent, or the client has left. */
export async function send(answer: Response, response: ServerResponse): Promise<void> {
  response.writeHead(answer.status, Object.fromEntries(answer.headers));
  if (answer.body === null) return void response.end();
  // A stream may have nothing to say for long.
  response.flushHeaders();
  // Who has left needs no answer; the stream is cancelled, and its maker told.
  await pipeline(Readable.fromWeb(answer.body as ReadableStream), response).catch(() => {});
}

/** An answer that is an error of the protocol, for a request whose id is not known. */
export const refusal = (
  status: number,
  message: string,
  headers: Record<string, string> = {},
  code = -32000,
): Response => Response.json({ jsonrpc: '2.0', error: { code, message }, id: null }, { status, headers });
