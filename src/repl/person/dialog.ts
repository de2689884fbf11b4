import type { InTurn } from './in-turn.ts';
import type { Dialog } from '../own-tools/own-tools.ts';
import { createMarkdownStream } from '../terminal/markdown.ts';
import { inLine, printable } from '../terminal/printable.ts';
import { wrapped } from '../terminal/prose.ts';
import { todoLines } from '../terminal/show.ts';
import type { Terminal } from '../terminal/terminal.ts';

/** The person's side of own tools: Markdown shown, questions with numbered choices. */
export function createDialog(terminal: Terminal, inTurn: InTurn): Dialog {
  const { paint } = terminal;
  return {
    show(markdown) {
      const stream = createMarkdownStream(terminal);
      stream.push(markdown);
      stream.end();
    },
    todos(todos) {
      if (todos.length > 0) terminal.print(todoLines(todos, paint).join('\n'));
    },
    ask: (question, choices, signal) =>
      inTurn(async () => {
        if (signal.aborted) return undefined;
        terminal.print(wrapped(`${paint.warning('?')} ${printable(question)}`, terminal.width));
        for (const [at, choice] of choices.entries()) terminal.print(`  ${at + 1} ${inLine(choice)}`);
        const hint = choices.length > 0 ? 'a number, or your own words' : 'your answer';
        const said = await terminal.ask(hint);
        if (said === undefined || said.trim() === '' || signal.aborted) return undefined;
        return byNumber(said.trim(), choices);
      }),
  };
}

/** A choice that was answered with its number, also several separated by commas. */
function byNumber(said: string, choices: readonly string[]): string {
  if (!/^\d+(\s*,\s*\d+)*$/.test(said)) return said;
  return said
    .split(',')
    .map((number) => choices[Number(number) - 1] ?? number.trim())
    .join(', ');
}
