import {
  formQuestions,
  type ElicitAnswer,
  type ElicitRequest,
  type ElicitValue,
} from './toolbox/elicitation.ts';
import { printable } from './terminal/printable.ts';
import type { Terminal } from './terminal/terminal.ts';

/** Puts a server's form to the person, one question after the other. Without a person, the answer is no. */
export async function askForm(terminal: Terminal | undefined, request: ElicitRequest): Promise<ElicitAnswer> {
  if (!terminal?.interactive || request.signal.aborted) return { action: 'decline' };
  const { paint } = terminal;
  terminal.print(
    `${paint.warning('?')} ${paint.tool(printable(request.server))} asks: ${printable(request.message)}`,
  );
  const content: Record<string, ElicitValue> = {};
  for (const field of formQuestions(request.requestedSchema)) {
    const hint = printable([field.title, field.description].filter((text) => text !== '').join(': '));
    const choices = field.choices ?? [];
    for (const [at, { title }] of choices.entries()) terminal.print(`  ${at + 1} ${printable(title)}`);
    for (;;) {
      const notes = [
        field.default === undefined ? '' : `Enter: ${String(field.default)}`,
        field.required ? '' : 'may be left out',
        'Ctrl-C: none of it',
      ];
      const said = await terminal.ask(`${hint} (${notes.filter((note) => note !== '').join(', ')})`);
      if (said === undefined || request.signal.aborted) return { action: 'cancel' };
      const checked = field.check(
        byNumber(
          said,
          choices.map(({ value }) => value),
        ),
      );
      if ('problem' in checked) {
        terminal.print(paint.bad(checked.problem));
        continue;
      }
      if (checked.value !== undefined) content[field.name] = checked.value;
      break;
    }
  }
  return { action: 'accept', content };
}

/** A choice that was answered with its number, also several separated by commas. */
export function byNumber(said: string, choices: readonly string[]): string {
  if (choices.length === 0 || !/^\s*\d+(\s*,\s*\d+)*\s*$/.test(said)) return said;
  return said
    .split(',')
    .map((number) => choices[Number(number) - 1] ?? number.trim())
    .join(', ');
}
