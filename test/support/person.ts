import { Client } from '@modelcontextprotocol/client';
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { questionIn, says, type Question, type Reply as Answer } from '../guarantees/person.ts';
import { transportOf, transportOfV1, type Era, type ServerOptions } from './server.ts';

export type Asked = Question;
export type Reply = keyof typeof says | Answer;

/** A person who is asked; a word is answered as people do. */
export type Person = (asked: Asked) => Reply | Promise<Reply>;

/** Says one after the other, the last again and again, and remembers what was asked. */
export function person(...replies: readonly Reply[]): Person & { readonly asked: Asked[] } {
  const asked: Asked[] = [];
  const say = (question: Asked): Reply => {
    asked.push(question);
    return replies[Math.min(asked.length, replies.length) - 1] ?? 'no';
  };
  return Object.assign(say, { asked });
}

export async function replyTo(answer: Person, params: unknown) {
  const question = questionIn(params);
  const reply = await answer(question);
  return typeof reply === 'string' ? says[reply](question) : reply;
}

/** A client of the current SDK, in either era, whose user can be asked. Close it. */
export async function connectWithPerson(
  era: Era,
  answer: Person,
  options: ServerOptions = {},
  elicitation: { form?: object; url?: object } = { form: {} },
  name = 'test',
): Promise<Client> {
  const client = new Client(
    { name, version: '1' },
    {
      capabilities: { elicitation: elicitation as { form?: Record<string, never> } },
      versionNegotiation: { mode: era === '2026-07-28' ? { pin: era } : 'legacy' },
    },
  );
  client.setRequestHandler('elicitation/create', ({ params }) => replyTo(answer, params));
  await client.connect(transportOf(options));
  return client;
}

/** The same with the first SDK, which sends `elicitation: {}`. */
export async function connectV1WithPerson(answer: Person, options: ServerOptions = {}): Promise<ClientV1> {
  const client = new ClientV1({ name: 'test-v1', version: '1' }, { capabilities: { elicitation: {} } });
  client.setRequestHandler(ElicitRequestSchema, ({ params }) => replyTo(answer, params));
  await client.connect(transportOfV1(options));
  return client;
}
