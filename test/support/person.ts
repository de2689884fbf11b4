import { Client } from '@modelcontextprotocol/client';
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { transportOf, transportOfV1, type Era, type ServerOptions } from './server.ts';

/** What a client shows its user. */
export interface Asked {
  readonly message: string;
  /** Each choice with what it says. */
  readonly choices: Readonly<Record<string, string>>;
}

export type Reply = string | { readonly action: 'accept' | 'decline' | 'cancel'; readonly content?: object };

/** Who is asked; a plain word is the choice that is made. */
export type Person = (asked: Asked) => Reply | Promise<Reply>;

/** Says the same to everything, and remembers what was asked. */
export function person(...replies: readonly Reply[]): Person & { readonly asked: Asked[] } {
  const asked: Asked[] = [];
  const say = (question: Asked): Reply => {
    asked.push(question);
    return replies[Math.min(asked.length, replies.length) - 1] ?? 'no';
  };
  return Object.assign(say, { asked });
}

interface Schema {
  oneOf?: { const: string; title: string }[];
  enum?: string[];
  enumNames?: string[];
}

/** What the form of an elicitation says and offers. */
export function askedIn(params: unknown): Asked {
  const { message, requestedSchema } = params as {
    message: string;
    requestedSchema: { properties: { decision: Schema } };
  };
  const { oneOf, enum: names = [], enumNames = [] } = requestedSchema.properties.decision;
  const choices =
    oneOf?.map((one) => [one.const, one.title]) ?? names.map((name, at) => [name, enumNames[at]]);
  return { message, choices: Object.fromEntries(choices) as Record<string, string> };
}

async function replyTo(answer: Person, params: unknown) {
  const reply = await answer(askedIn(params));
  const said = typeof reply === 'string' ? { action: 'accept', content: { decision: reply } } : reply;
  return said as { action: 'accept'; content: Record<string, string> };
}

/** A client of the current SDK, in either era, whose user can be asked. Close it. */
export async function connectWithPerson(
  era: Era,
  answer: Person,
  options: ServerOptions = {},
  elicitation: { form?: object; url?: object } = { form: {} },
): Promise<Client> {
  const client = new Client(
    { name: 'test', version: '1' },
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
