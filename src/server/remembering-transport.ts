import type { Readable, Writable } from 'node:stream';
import type { JSONRPCMessage } from '@modelcontextprotocol/server';
import { StdioServerTransport } from '@modelcontextprotocol/server/stdio';
import {
  firstMethods,
  replayedId,
  requestKey,
  type Opening,
  type Request,
  type Results,
} from './first-answers.ts';

/**
 * Standard input and output, with a memory for the answers to first requests. What was answered before the server
 * was there is asked again, so that the server knows its client, and its answers are dropped.
 */
export class RememberingTransport extends StdioServerTransport {
  readonly #remembered: Results;
  readonly #results: Record<string, unknown> = {};
  readonly #asked = new Map<unknown, string>();
  #list: Request | undefined;
  #listedAgain: (() => void) | undefined;

  constructor(input: Readable, output: Writable, opening: Opening | undefined) {
    super(input, output);
    this.#remembered = opening?.results ?? {};
    this.#list = opening?.listed;
  }

  override async start(): Promise<void> {
    const deliver = this.onmessage;
    // oxlint-disable-next-line unicorn/prefer-add-event-listener -- The SDK's transports have no other way.
    this.onmessage = (message) => {
      if ('method' in message && 'id' in message && firstMethods.has(message.method)) {
        this.#asked.set(message.id, requestKey(message as Request));
        if (message.method === 'tools/list') this.#list = message as Request;
      }
      deliver?.(message);
    };
    return super.start();
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
   * Asks for the list as the client did the last time, and says whether the client was told another one. False when it
   * has not asked.
   */
  async listHasChanged(): Promise<boolean> {
    if (this.#list === undefined) return false;
    const key = requestKey(this.#list);
    const before = JSON.stringify(this.#results[key] ?? this.#remembered[key]);
    await new Promise<void>((resolve) => {
      this.#listedAgain = resolve;
      this.onmessage?.({ ...this.#list, id: listedAgainId } as JSONRPCMessage);
    });
    return JSON.stringify(this.#results[key]) !== before;
  }

  /** This connection's answers, with those to other clients that still hold. */
  results(listHasChanged: boolean): Results {
    return listHasChanged ? this.#results : { ...this.#remembered, ...this.#results };
  }
}

const listedAgainId = `${replayedId}list`;
