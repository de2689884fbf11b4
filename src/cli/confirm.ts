import { createInterface } from 'node:readline/promises';
import type { Client } from '@modelcontextprotocol/client';

/** True where a person sits at a terminal and can be asked. */
export const canAsk = (): boolean => process.stdin.isTTY === true && process.stderr.isTTY === true;

/**
 * Puts the server's questions to the person at the terminal. They go to standard error, so that the result of
 * a call on standard output stays undisturbed.
 */
export function answerQuestions(client: Client): void {
  client.setRequestHandler('elicitation/create', async ({ params }) => {
    const schema = 'requestedSchema' in params ? params.requestedSchema : undefined;
    const trust = lastingChoice(schema?.properties['trust']);
    const always = lastingChoice(schema?.properties['always']);
    // A line of progress may have to be cleared.
    process.stderr.write(`\r\u001B[K${params.message}\n\n`);
    const choices = [
      '[y]es',
      ...(trust === undefined ? [] : ['yes and [t]rust the folder']),
      ...(always === undefined ? [] : [`[a]lways (${always.replace(/^always: /, '')})`]),
    ];
    const reply = await ask(`${choices.join(', ')}, [N]o? `);
    if (/^y(?:es)?$/.test(reply)) return { action: 'accept', content: {} };
    if (trust !== undefined && /^t(?:rust)?$/.test(reply)) return { action: 'accept', content: { trust } };
    if (always !== undefined && /^a(?:lways)?$/.test(reply)) return { action: 'accept', content: { always } };
    return { action: 'decline' };
  });
}

/** Asks a question, and returns what is typed in small letters; '' when the person leaves instead. */
export async function ask(question: string): Promise<string> {
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  const closed = new AbortController();
  terminal.once('close', () => closed.abort());
  // The terminal is read key by key now, so that Ctrl-C sends no signal by itself.
  terminal.once('SIGINT', () => {
    terminal.close();
    process.emit('SIGINT');
  });
  try {
    return (await terminal.question(question, { signal: closed.signal })).trim().toLowerCase();
  } catch {
    // After Ctrl-C or at the end of the input, nobody said yes.
    return '';
  } finally {
    terminal.close();
  }
}

/** The choice with a lasting effect, where the server offers one: `always: exactly this, in this folder`. */
function lastingChoice(property: unknown): string | undefined {
  const { enum: choices } = (property ?? {}) as { enum?: unknown };
  return Array.isArray(choices)
    ? choices.find(
        (choice): choice is string => typeof choice === 'string' && /^(?:always|yes): /.test(choice),
      )
    : undefined;
}
