import { askYesOrNo } from './is-yes.ts';
import {
  formQuestions,
  type ElicitAnswer,
  type ElicitRequest,
  type ElicitValue,
} from '../toolbox/elicitation.ts';
import { inLine } from '../terminal/printable.ts';
import type { Terminal } from '../terminal/terminal.ts';

/** Characters of what the line says in which the answer is typed: whoever asks stays in sight. */
const longest = 60;

/** Puts a server's form to the person, one question after the other. Without a person, the answer is no. */
export async function askForm(terminal: Terminal | undefined, request: ElicitRequest): Promise<ElicitAnswer> {
  const { signal } = request;
  if (!terminal?.interactive || signal.aborted) return { action: 'decline' };
  const { paint } = terminal;
  // Also where the answer is typed: whatever it asks for, it can only look like its question.
  const asks = `${inLine(request.server)} asks:`;
  const ask = async (question: string, above: readonly string[] = []) => {
    const said = await terminal.ask([...above, `${asks} ${question}`].join('\n'), { signal });
    return signal.aborted ? undefined : said;
  };
  // It must not push what was there before out of sight.
  const [first = '', ...more] = shortened(request.message.split('\n'), 10);
  const lines = more.length === 0 ? [` ${first}`] : ['', ...[first, ...more].map((line) => `\n  │ ${line}`)];
  terminal.print(`${paint.warning('?')} ${paint.tool(asks)}${lines.join('')}`);
  const content: Record<string, ElicitValue> = {};
  const fields = formQuestions(request.requestedSchema);
  if (fields.length === 0) {
    const said = await askYesOrNo(ask, '[y]es [n]o');
    if (said === undefined) return { action: 'cancel' };
    return said ? { action: 'accept', content } : { action: 'decline' };
  }
  for (const { name, title, description, choices, default: preset, required, check } of fields) {
    const titles = choices.map((choice, at) => `${at + 1} ${choice.title}`);
    let above = [
      ...shortened(description.split('\n'), 5).map((line) => `  │ ${line}`),
      ...shortened(titles, 50).map((line) => `  ${line}`),
    ];
    const notes = [
      ...(preset === undefined ? [] : [`Enter: ${inLine(String(preset), longest)}`]),
      ...(required ? [] : ['may be left out']),
      'Esc: none of it',
    ];
    const question = `${inLine(title, longest)} (${notes.join(', ')})`;
    for (;;) {
      const said = await ask(question, above);
      above = [];
      if (said === undefined) return { action: 'cancel' };
      const checked = check(said);
      if ('value' in checked) {
        if (checked.value !== undefined) content[name] = checked.value;
        break;
      }
      terminal.print(paint.bad(inLine(checked.problem)));
    }
  }
  return { action: 'accept', content };
}

/** A server's lines, without empty ones, and not more than so many. */
function shortened(given: readonly string[], most: number): string[] {
  const lines = given.map((line) => inLine(line)).filter((line) => line !== '');
  return lines.length <= most
    ? lines
    : [...lines.slice(0, most - 1), `… ${lines.length - most + 1} more lines`];
}
