import { printable } from '../terminal/printable.ts';
import { table } from '../terminal/show.ts';
import type { Command } from './command.ts';

/** /hooks: which commands run before and after tools. */
export const hooksCommand: Command = {
  name: 'hooks',
  help: 'the commands that run before and after a tool',
  run({ chat, terminal }) {
    const rows = (['before', 'after', 'end'] as const).flatMap((event) =>
      (chat.hooks[event] ?? []).map(({ tools, command }) => [
        event,
        tools ?? '*',
        printable(command.join(' ')),
      ]),
    );
    terminal.print(
      rows.length === 0
        ? 'There are none; chat.yaml is where they go.'
        : table(rows, terminal.width).join('\n'),
    );
    return undefined;
  },
};
