import type { Client } from '@modelcontextprotocol/client';
import type { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { connectWithPerson } from '../support/person.ts';
import { connect, eras, program, type Era } from '../support/server.ts';
import { textOf } from '../support/text-of.ts';
import { operator, type Act } from './acts.ts';
import type { Person } from './person.ts';

export { eras, program };

export interface SessionOptions {
  readonly era?: Era;
  /** The person who can be asked; without them the client declares that it cannot ask. */
  readonly person?: Person;
  /** The arguments of the operator on the command line. */
  readonly args?: readonly string[];
  /** Variables of the server, over those of the world. */
  readonly env?: Readonly<Record<string, string>>;
  readonly roots?: readonly string[];
  /** True when the state of the project is kept before programs change it; it costs time. */
  readonly checkpoints?: boolean;
}

/** The outcome of an act. */
export interface Outcome {
  readonly refused: boolean;
  readonly text: string;
}

export interface While {
  readonly signal?: AbortSignal;
  readonly onprogress?: (progress: { progress: number; message?: string | undefined }) => void;
}

/** A real client of the built server. */
export interface Session {
  readonly client: Client;
  readonly pid: number;
  /** The faults that the client found in what the server sent. */
  readonly complaints: string[];
  does(act: Act, meanwhile?: While): Promise<Outcome>;
  /** The same for an act that has to succeed: its text. */
  gets(act: Act, meanwhile?: While): Promise<string>;
  close(): Promise<void>;
}

interface Place extends SessionOptions {
  readonly project: string;
  readonly env: Readonly<Record<string, string>>;
}

export async function openSession(place: Place): Promise<Session> {
  const { era = '2026-07-28', person, args = [], env, roots = [place.project], checkpoints = false } = place;
  const options = [...args, ...(checkpoints ? [] : operator.withoutCheckpoints)];
  const server = { roots, args: options, env: { ...env }, cwd: place.project };
  const client = person
    ? await connectWithPerson(era, (question) => person.answer(question), server)
    : await connect(era, server);
  const complaints: string[] = [];
  Object.assign(client, { onerror: (error: Error) => complaints.push(error.message) });
  const does = async (act: Act, meanwhile: While = {}): Promise<Outcome> => {
    try {
      const result = await client.callTool({ name: act.name, arguments: { ...act.arguments } }, meanwhile);
      return { refused: result.isError === true, text: textOf(result) };
    } catch (error) {
      // A call that the protocol refuses: a tool that does not exist here, or arguments that no tool takes.
      if (meanwhile.signal?.aborted) throw error;
      return { refused: true, text: String(error) };
    }
  };
  return {
    client,
    pid: (client.transport as StdioClientTransport).pid ?? 0,
    complaints,
    does,
    async gets(act, meanwhile) {
      const { refused, text } = await does(act, meanwhile);
      if (refused) throw new Error(`${act.name} was refused: ${text}`);
      return text;
    },
    close: () => client.close(),
  };
}
