import { ownCommand } from './usage.ts';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { version } from '../server/version.ts';
import { answerQuestions, canAsk } from './confirm.ts';

/**
 * Starts our own server the way a host does, and connects a real client to it, which puts the server's questions to
 * the person at the terminal when there is one. The caller closes the client. Throws UsageError when the server
 * does not start with what the settings say.
 */
export async function connect(serveArguments: readonly string[]): Promise<Client> {
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
    args: [script, 'serve', ...serveArguments],
    // The SDK would hand on six variables only, and these are the user's own.
    env: { ...(process.env as Record<string, string>) },
    stderr: 'inherit',
  });
  try {
    await client.connect(transport);
  } catch (error) {
    await client.close();
    // Most likely what it would have said itself, had the SDK, which tries one first, not closed its standard error.
    await (await import('./served-settings.ts')).servedSettings([...serveArguments]);
    throw error;
  }
  return client;
}
