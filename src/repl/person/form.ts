import { inLine } from '../terminal/printable.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { formFields, type ElicitAnswer, type ElicitRequest, type ElicitValue } from './form-fields.ts';
import { askNow, confirmNow } from './person.ts';

/** Characters of what the line says in which the answer is typed: whoever asks stays in sight. */
const longest = 60;

/** Puts a server's form to the person, one question after the other. */
export async function askForm(terminal: Terminal, request: ElicitRequest): Promise<ElicitAnswer> {
  const { signal } = request;
  if (signal.aborted) return { action: 'decline' };
  const { paint } = terminal;
  // Also where the answer is typed: whatever it asks for, it can only look like its question.
  const asks = `${inLine(request.server)} asks:`;
  const [first = '', ...more] = shortened(request.message.split('\n'), 10);
  const lines = more.length === 0 ? [` ${first}`] : [first, ...more].map((line) => `\n  │ ${line}`);
  terminal.print(`${paint.warning('?')} ${paint.tool(asks)}${lines.join('')}`);
  const content: Record<string, ElicitValue> = {};
  const fields = formFields(request.requestedSchema);
  if (fields.length === 0) {
    const said = await confirmNow(terminal, `${asks} `, signal);
    if (said === undefined) return { action: 'cancel' };
    return said ? { action: 'accept', content } : { action: 'decline' };
  }
  for (const { name, title, description, choices, default: preset, required, read } of fields) {
    const notes = [
      ...(preset === undefined ? [] : [`Enter: ${inLine(String(preset), longest)}`]),
      ...(required ? [] : ['may be left out']),
      'Esc: none of it',
    ];
    const titles = choices.map((choice, at) => `${at + 1} ${choice.title}`);
    const value = await askNow<{ readonly given: ElicitValue | undefined }>(terminal, {
      above: [
        ...shortened(description.split('\n'), 5).map((line) => `  │ ${line}`),
        ...shortened(titles, 50).map((line) => `  ${line}`),
      ],
      line: `${asks} ${inLine(title, longest)} (${notes.join(', ')})`,
      async words(said) {
        const found = await read(said);
        return 'problem' in found ? { problem: inLine(found.problem) } : { value: { given: found.value } };
      },
      signal,
    });
    if (value === undefined) return { action: 'cancel' };
    if (value.given !== undefined) content[name] = value.given;
  }
  return { action: 'accept', content };
}

/** A server's lines without empty ones, and so few that they push nothing out of sight. */
function shortened(given: readonly string[], most: number): string[] {
  const lines = given.map((line) => inLine(line)).filter((line) => line !== '');
  const left = `… ${lines.length - most + 1} more lines`;
  return lines.length <= most ? lines : [...lines.slice(0, most - 1), left];
}
