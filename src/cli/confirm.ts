import { createInterface } from 'node:readline/promises';
import type { Client } from '@modelcontextprotocol/client';

/** Whether a person sits at a terminal who can be asked. */
export const canAsk = (): boolean => process.stdin.isTTY === true && process.stderr.isTTY === true;

/**
 * Puts the server's questions to the person at the terminal; the answer of a call goes to standard output,
 * undisturbed.
 */
export function answerQuestions(client: Client): void {
  client.setRequestHandler('elicitation/create', async ({ params }) => {
    const schema = 'requestedSchema' in params ? params.requestedSchema : undefined;
    const trust = lastingChoice(schema?.properties['trust']);
    const always = lastingChoice(schema?.properties['always']);
    // There may be a line of progress.
    process.stderr.write(`\r\u001B[K${params.message}\n\n`);
    const choices = [
      '[y]es',
      ...(trust === undefined ? [] : ['yes and [t]rust the folder']),
      ...(always === undefined ? [] : [`[a]lways (${always.replace(/^always: /, '')})`]),
    ];
    const said = await ask(`${choices.join(', ')}, [N]o? `);
    if (/^y(?:es)?$/.test(said)) return { action: 'accept', content: {} };
    if (trust !== undefined && /^t(?:rust)?$/.test(said)) return { action: 'accept', content: { trust } };
    if (always !== undefined && /^a(?:lways)?$/.test(said)) return { action: 'accept', content: { always } };
    return { action: 'decline' };
  });
}

/** What is typed, in small letters; nothing when the person leaves instead. */
export async function ask(question: string): Promise<string> {
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  const left = new AbortController();
  terminal.once('close', () => left.abort());
  // The terminal is read key by key now, so that nobody else hears of Ctrl-C.
  terminal.once('SIGINT', () => {
    terminal.close();
    process.emit('SIGINT');
  });
  try {
    return (await terminal.question(question, { signal: left.signal })).trim().toLowerCase();
  } catch {
    // Ctrl-C or the end of the input: nobody said yes.
    return '';
  } finally {
    terminal.close();
  }
}

/** The choice that lasts, where the server offers one: `always: exactly this, in this folder`. */
function lastingChoice(property: unknown): string | undefined {
  const { enum: choices } = (property ?? {}) as { enum?: unknown };
  return Array.isArray(choices)
    ? choices.find(
        (choice): choice is string => typeof choice === 'string' && /^(?:always|yes): /.test(choice),
      )
    : undefined;
}
