import { fileURLToPath } from 'node:url';
import { envelope } from '../attacks/raw-client.ts';
import {
  initialize,
  program,
  serveArguments,
  startRaw,
  type Era,
  type Message,
  type ServerOptions,
} from '../support/server.ts';
import { textOf } from '../support/text-of.ts';
import { below, look, type Seen } from './process-table.ts';

/** The ways in which a client can vanish, and its server. */
export const waysToVanish = ['client', 'input', 'output', 'both', 'server'] as const;
/**
 * - client  its process is killed
 * - input   it closes what the server reads
 * - output  it closes what the server writes to, and nothing else
 * - both    it closes both
 * - server  it is the server that is killed
 */
export type Way = (typeof waysToVanish)[number];

const relay = fileURLToPath(new URL('relay.mjs', import.meta.url));

/** A connection that is made by hand, so that it can be broken anywhere. */
export interface RawClient {
  readonly server: Seen;
  /** Makes a call; returns the number of its answer. */
  send(name: string, given?: object): number;
  /** Its answer as text; for a question of the server, the question. */
  answer(id: number): Promise<string>;
  /** Makes a call and waits for it. */
  call(name: string, given?: object): Promise<string>;
  /** Makes a call about which a person is asked, and waits until they are; what it says. */
  ask(name: string, given?: object): Promise<string>;
  vanish(): void;
  /** Ends the server as a client does that behaves. */
  close(): Promise<void>;
  /** Ends it if it is still there. */
  kill(): void;
}

/** Connects to a server of its own, and vanishes in the way that is given; until then it can be asked. */
export async function openRaw(era: Era, options: ServerOptions, way?: Way): Promise<RawClient> {
  const isRelayed = way === 'client';
  const raw = startRaw(
    isRelayed
      ? { ...options, instead: relay, args: [program, ...serveArguments(options).slice(1)] }
      : options,
  );
  // Whoever writes to one that is gone is not to end with it.
  for (const stream of [raw.child.stdin, raw.child.stdout]) stream.on('error', () => undefined);
  const meta = era === '2026-07-28' ? { _meta: envelope({ form: {} }) } : {};
  if (era === '2025-11-25') await initialize(raw, { elicitation: {} });
  else {
    raw.send({ id: 1, method: 'server/discover', params: meta });
    await raw.next(({ id }) => id === 1);
  }
  const pid = isRelayed ? (below(raw.child.pid ?? 0)[0]?.pid ?? 0) : (raw.child.pid ?? 0);
  const server = look(pid);
  if (!server) throw new Error('there is no server');
  let last = 100;
  const send = (name: string, given: object = {}) => {
    raw.send({ id: ++last, method: 'tools/call', params: { name, arguments: given, ...meta } });
    return last;
  };
  const isAnswer = (id: number) => (message: Message) => message.id === id && message.method === undefined;
  const answer = async (id: number) => {
    const { result, error } = await raw.next(isAnswer(id));
    if (error) return `error: ${JSON.stringify(error)}`;
    const { inputRequests } = (result ?? {}) as { inputRequests?: object };
    return inputRequests ? JSON.stringify(inputRequests) : textOf(result);
  };
  const breaks: Record<Way, () => unknown> = {
    client: () => raw.child.kill('SIGKILL'),
    input: () => raw.child.stdin.end(),
    output: () => raw.child.stdout.destroy(),
    both: () => [raw.child.stdin.destroy(), raw.child.stdout.destroy()],
    server: () => raw.child.kill('SIGKILL'),
  };
  return {
    server,
    send,
    answer,
    call: (name, given) => answer(send(name, given)),
    async ask(name, given) {
      const id = send(name, given);
      // An older client is sent a question while its call goes on, a newer one gets it for an answer.
      return JSON.stringify(
        await raw.next((one) => one.method === 'elicitation/create' || isAnswer(id)(one)),
      );
    },
    vanish: () => {
      breaks[way ?? 'input']();
    },
    async close() {
      raw.child.stdin.end();
      await raw.ended;
    },
    kill: () => {
      raw.child.kill('SIGKILL');
    },
  };
}
