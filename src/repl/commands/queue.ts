import { printable } from '../terminal/printable.ts';
import type { Command } from './command.ts';

/** /queue [clear], /stop: what was typed while the model was busy. Both work while it is. */
export const queueCommands: readonly Command[] = [
  {
    name: 'queue',
    usage: '[clear]',
    help: 'what was typed while the model was busy',
    complete: () => ['clear'],
    run({ terminal }, args) {
      if (args === 'clear') terminal.takeQueued();
      const { queued } = terminal;
      terminal.print(
        queued.length === 0
          ? 'Nothing is queued.'
          : queued.map((line, at) => `${at + 1} ${printable(line)}`).join('\n'),
      );
      return undefined;
    },
  },
  {
    name: 'stop',
    help: 'interrupts the model and empties the queue',
    run({ terminal }) {
      terminal.takeQueued();
      return undefined;
    },
  },
];
