import { createInterface } from 'node:readline/promises';
import type { Client } from '@modelcontextprotocol/client';

/** One answer that a question of the server allows. */
interface Choice {
  readonly value: string;
  readonly says: string;
}

/** Whether a person sits at a terminal who can be asked. */
export const canAsk = (): boolean => process.stdin.isTTY === true && process.stderr.isTTY === true;

/** Puts the server's questions to the person at the terminal; the answer of a call goes to standard output, undisturbed. */
export function answerQuestions(client: Client): void {
  client.setRequestHandler('elicitation/create', async ({ params }) => {
    const schema = 'requestedSchema' in params ? params.requestedSchema : undefined;
    const [name, property] = Object.entries(schema?.properties ?? {})[0] ?? [];
    const choices = choicesOf(property);
    if (name === undefined || choices.length === 0) return { action: 'decline' };
    process.stderr.write(`${params.message}\n\n`);
    for (const { value, says } of choices) process.stderr.write(`  ${value.padEnd(8)}${says}\n`);
    const chosen = await choose(choices);
    return chosen === undefined ? { action: 'decline' } : { action: 'accept', content: { [name]: chosen } };
  });
}

async function choose(choices: readonly Choice[]): Promise<string | undefined> {
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  const left = new AbortController();
  terminal.once('close', () => left.abort());
  terminal.once('SIGINT', () => terminal.close());
  try {
    const answer = (
      await terminal.question(`${choices.map(({ value }) => value).join('/')}? `, { signal: left.signal })
    )
      .trim()
      .toLowerCase();
    const found = choices.filter(({ value }) => answer !== '' && value.startsWith(answer));
    return found.length === 1 ? found[0]?.value : undefined;
  } catch {
    // Ctrl-C or the end of the input: nobody said yes.
    return undefined;
  } finally {
    terminal.close();
  }
}

/** The values of an enumeration, whichever of the two forms of the protocol it is written in. */
function choicesOf(property: unknown): Choice[] {
  const { oneOf, enum: values, enumNames } = (property ?? {}) as Record<string, unknown>;
  if (Array.isArray(oneOf))
    return oneOf.map((one: { const?: unknown; title?: unknown }) => ({
      value: String(one.const),
      says: String(one.title ?? ''),
    }));
  if (!Array.isArray(values)) return [];
  const names = Array.isArray(enumNames) ? enumNames : [];
  return values.map((value, index) => ({ value: String(value), says: String(names[index] ?? '') }));
}
