import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { version } from '../machine/version.ts';
import { answerQuestions, canAsk } from './confirm.ts';
import { servedSettings } from './served-settings.ts';
import { asArguments, ownCommand, type ServeValues } from './usage.ts';

/**
 * Starts our own server the way a host does, and connects a real client to it, which puts the server's
 * questions to the person at the terminal when there is one. The caller closes the client. Throws UsageError
 * when the server does not start with these settings.
 */
export async function connect(values: ServeValues): Promise<Client> {
  // The server would report wrong settings itself, but the SDK, which starts one as a trial, has closed its
  // standard error by then.
  await servedSettings(values);
  const { command, script } = ownCommand();
  const asks = canAsk();
  const client = new Client(
    { name: 'toolcrib', version },
    {
      capabilities: asks ? { elicitation: { form: {} } } : {},
      versionNegotiation: { mode: { pin: '2026-07-28' } },
    },
  );
  if (asks) answerQuestions(client);
  const transport = new StdioClientTransport({
    command,
    args: [script, 'serve', ...asArguments(values)],
    // The SDK would pass on only six variables, and these are the user's own.
    env: { ...(process.env as Record<string, string>) },
    stderr: 'inherit',
  });
  try {
    await client.connect(transport);
  } catch (error) {
    await client.close();
    throw error;
  }
  return client;
}
