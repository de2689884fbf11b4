import { PassThrough } from 'node:stream';
import { deserializeMessage, type JSONRPCMessage } from '@modelcontextprotocol/server';
import { StdioServerTransport } from '@modelcontextprotocol/server/stdio';
import {
  firstMethods,
  replayedId,
  requestKey,
  type EarlyAnswers,
  type JsonRpcRequest,
  type CachedResults,
} from '../start/start-cache.ts';

/** The most bytes of one message. */
const mostBytes = 10 * 1024 * 1024;
/** Bytes kept of the beginning and the end of a line that is too long: enough to find its id. */
const edgeBytes = 256;
const listedAgainId = `${replayedId}list`;

/**
 * Standard input and output, with a memory for the answers to first requests. What was answered before the
 * server was there is asked again, so that the server knows its client, and its answers are dropped. Lines
 * are put together here: a pipe brings 64 KB at a time, and the SDK copies all it has with each piece.
 */
export class StdioTransport extends StdioServerTransport {
  readonly #remembered: CachedResults;
  readonly #results: Record<string, unknown> = {};
  readonly #asked = new Map<unknown, string>();
  #list: JsonRpcRequest | undefined;
  readonly #onList: () => void;
  #listedAgain: (() => void) | undefined;
  #pieces: Buffer[] = [];
  #length = 0;

  /** `onList` is told when the client asks for the list. */
  constructor(opening: EarlyAnswers | undefined, onList: () => void) {
    super(new PassThrough(), process.stdout);
    this.#onList = onList;
    this.#remembered = opening?.results ?? {};
    this.#list = opening?.listed;
  }

  /** True when a client's first requests have all been answered. */
  get isIdle(): boolean {
    return this.#asked.size === 0;
  }

  /** Takes what came in, and delivers the messages that are whole. */
  take(chunk: Buffer): void {
    let begin = 0;
    for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, begin)) {
      this.#keep(chunk.subarray(begin, end));
      begin = end + 1;
      const line = this.#pieces.length === 1 ? this.#pieces[0] : Buffer.concat(this.#pieces);
      const isTooLong = this.#length > mostBytes;
      this.#pieces = [];
      this.#length = 0;
      if (isTooLong) process.stdout.write(refusalOf(String(line)));
      else this.#deliver(String(line));
    }
    this.#keep(chunk.subarray(begin));
  }

  /** Of a line that is too long, its beginning and its end. */
  #keep(bytes: Buffer): void {
    this.#pieces.push(bytes);
    this.#length += bytes.length;
    if (this.#length <= mostBytes) return;
    const all = Buffer.concat(this.#pieces);
    this.#pieces = [all.subarray(0, edgeBytes), all.subarray(-edgeBytes)].map((edge) => Buffer.from(edge));
  }

  #deliver(line: string): void {
    try {
      const message = deserializeMessage(line);
      if ('method' in message && 'id' in message && firstMethods.has(message.method)) {
        this.#asked.set(message.id, requestKey(message as JsonRpcRequest));
        if (message.method === 'tools/list') {
          this.#list = message as JsonRpcRequest;
          this.#onList();
        }
      }
      this.onmessage?.(message);
    } catch (error) {
      // A line that is no JSON is no message, and nobody's.
      if (!(error instanceof SyntaxError)) this.#refuse(line, error as Error);
    }
  }

  /** Answers a request that is no message of MCP: its client would wait for ever. */
  #refuse(line: string, { issues = [] }: Error & { readonly issues?: readonly Issue[] }): void {
    const { id, method } = Object(JSON.parse(line)) as { id?: unknown; method?: unknown };
    // Of the forms that a message can have, a request is the first.
    const { path = [], message = 'it is no message' } = issues[0]?.errors?.[0]?.[0] ?? issues[0] ?? {};
    const why = `Invalid request: ${[...path, message].join(': ')}`;
    if (typeof method !== 'string' || !['string', 'number'].includes(typeof id))
      return this.onerror?.(new Error(why));
    process.stdout.write(errorOf(JSON.stringify(id), why));
  }

  override async send(message: JSONRPCMessage): Promise<void> {
    const id = 'method' in message ? undefined : message.id;
    const key = this.#asked.get(id);
    if (key !== undefined && 'result' in message) this.#results[key] = message.result;
    this.#asked.delete(id);
    if (id === listedAgainId) this.#listedAgain?.();
    if (typeof id === 'string' && id.startsWith(replayedId)) return;
    return super.send(message);
  }

  /**
   * Asks for the list as the client did the last time, and says whether the client was told another one.
   * False when it has not asked.
   */
  async listHasChanged(): Promise<boolean> {
    if (this.#list === undefined) return false;
    const key = requestKey(this.#list);
    const before = JSON.stringify(this.#results[key] ?? this.#remembered[key]);
    await new Promise<void>((resolve) => {
      this.#listedAgain = resolve;
      this.#deliver(JSON.stringify({ ...this.#list, id: listedAgainId }));
    });
    return JSON.stringify(this.#results[key]) !== before;
  }

  /** This connection's answers, with those to other clients that still hold. */
  results(listHasChanged: boolean): CachedResults {
    return listHasChanged ? this.#results : { ...this.#remembered, ...this.#results };
  }
}

/** The answer to a message that was too long. Its id stands before or after the parameters. */
function refusalOf(edges: string): string {
  const id =
    /^\{"jsonrpc":"2\.0","id":(\d+|"[^"\\]*"),/.exec(edges)?.[1] ??
    /"id":(\d+|"[^"\\]*")(?:,"jsonrpc":"2\.0")?\}\s*$/.exec(edges)?.[1] ??
    'null';
  const message = `TOO_LARGE: The message has more than ${mostBytes / 1024 / 1024} MB. Send it in parts.`;
  return errorOf(id, message);
}

const errorOf = (id: string, message: string): string =>
  `{"jsonrpc":"2.0","id":${id},"error":{"code":-32600,"message":${JSON.stringify(message)}}}\n`;

/** A mistake as zod tells it; of several forms that would do, the mistakes of each. */
interface Issue {
  readonly path: readonly (string | number)[];
  readonly message: string;
  readonly errors?: readonly (readonly Issue[])[];
}
