import { ChatError } from '../errors.ts';
import type { Part } from '../message.ts';
import { failureText } from './failure-text.ts';
import { promptParts, resourceParts } from './reply.ts';
import type { ServerConnection } from './server-connection.ts';

interface ServerPrompt {
  readonly server: string;
  readonly name: string;
  readonly description?: string | undefined;
  readonly arguments: readonly {
    readonly name: string;
    readonly description?: string | undefined;
    readonly required?: boolean | undefined;
  }[];
}

export interface Completion {
  readonly prompt: string;
  readonly argument: string;
  readonly value: string;
  /** Arguments that are known already. */
  readonly given: Readonly<Record<string, string>>;
}

export const promptsOf = ({ config, prompts }: ServerConnection): ServerPrompt[] =>
  prompts.map(({ name, description, arguments: asked = [] }) => ({
    server: config.name,
    name,
    description,
    arguments: asked,
  }));

/** A prompt with its arguments filled in, as parts of a message. Throws SERVER_FAILED. */
export async function promptOf(
  connection: ServerConnection,
  name: string,
  args: Readonly<Record<string, string>>,
): Promise<Part[]> {
  const params = { name, arguments: { ...args } };
  const asked = connection.use((client, timeout) => client.getPrompt(params, timeout));
  return promptParts((await answerOf(connection, asked)).messages);
}

/** Throws SERVER_FAILED. */
export async function resourceOf(connection: ServerConnection, uri: string): Promise<Part[]> {
  const asked = connection.use((client, timeout) => client.readResource({ uri }, timeout));
  return resourceParts(await answerOf(connection, asked));
}

async function answerOf<T>({ config }: ServerConnection, asked: Promise<T>): Promise<T> {
  try {
    return await asked;
  } catch (error) {
    if (error instanceof ChatError) throw error;
    const message = `MCP server "${config.name}": ${failureText(error, '')}.`;
    throw new ChatError('SERVER_FAILED', message, { cause: error });
  }
}

/** The addresses it has, those of templates with `{placeholders}`; none when it does not answer: a person is typing. */
export async function resourcesOf(connection: ServerConnection): Promise<string[]> {
  if (connection.state !== 'ready') return [];
  const asked = connection.use(async (client, timeout) => {
    if (!client.getServerCapabilities()?.resources) return [];
    const { resources } = await client.listResources({}, timeout);
    // A server with resources need not know templates.
    const none = () => ({ resourceTemplates: [] });
    const { resourceTemplates } = await client.listResourceTemplates({}, timeout).catch(none);
    return [...resources.map(({ uri }) => uri), ...resourceTemplates.map(({ uriTemplate }) => uriTemplate)];
  });
  return asked.catch(() => []);
}

/** Values for an argument of a prompt; none when the server does not help. */
export async function completionsOf(
  connection: ServerConnection,
  { prompt, argument: name, value, given }: Completion,
): Promise<readonly string[]> {
  if (connection.state !== 'ready') return [];
  const ref = { type: 'ref/prompt', name: prompt } as const;
  const params = { ref, argument: { name, value }, context: { arguments: { ...given } } };
  const asked = connection.use(async (client, timeout) => {
    if (!client.getServerCapabilities()?.completions) return [];
    return (await client.complete(params, timeout)).completion.values;
  });
  return asked.catch(() => []);
}
