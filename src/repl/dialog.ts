import { byNumber } from './elicit.ts';
import type { Dialog } from './own-tools/own-tool.ts';
import { createMarkdownStream } from './terminal/markdown.ts';
import { printable } from './terminal/printable.ts';
import type { Terminal } from './terminal/terminal.ts';

/** The person's side of own tools: Markdown shown, questions with numbered choices. */
export function createDialog(terminal: Terminal): Dialog {
  const { paint } = terminal;
  return {
    show(markdown) {
      const stream = createMarkdownStream({
        paint,
        width: () => terminal.width,
        write: (text) => terminal.write(text),
      });
      stream.push(`${printable(markdown)}\n`);
      stream.end();
    },
    async ask(question, choices, signal) {
      terminal.print(`${paint.warning('?')} ${printable(question)}`);
      for (const [at, choice] of choices.entries()) terminal.print(`  ${at + 1} ${printable(choice)}`);
      const hint = choices.length > 0 ? 'a number, or your own words' : 'your answer';
      const said = await terminal.ask(hint);
      if (said === undefined || said.trim() === '' || signal.aborted) return undefined;
      return byNumber(said.trim(), choices);
    },
  };
}
