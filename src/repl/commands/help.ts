import { table } from '../terminal/show.ts';
import type { Command } from './command.ts';
import { wrongUse } from './usage-error.ts';

const keys = `Alt+Enter or a backslash at the end: another line · """ begins and ends a longer text · Tab completes · Shift+Tab changes the mode
@file, @dir/ and @server:uri bring their content along · Esc or Ctrl-C interrupts, twice leaves · lines typed meanwhile are queued`;

/** /help [command] */
export const helpCommand = (all: () => readonly Command[]): Command => ({
  name: 'help',
  aliases: ['?'],
  usage: '[command]',
  help: 'lists the commands, or explains one',
  complete: () => all().map(({ name }) => name),
  run({ terminal }, args) {
    const wanted = args.replace(/^\//, '');
    const shown =
      wanted === ''
        ? all()
        : all().filter(({ name, aliases }) => name === wanted || aliases?.includes(wanted));
    if (shown.length === 0) throw wrongUse(`There is no command /${wanted}. /help lists them.`);
    const rows = shown.map(({ name, usage, help }) => [`/${name}${usage ? ` ${usage}` : ''}`, help]);
    terminal.print(table(rows, terminal.width).join('\n'));
    if (wanted === '') terminal.print(terminal.paint.dim(keys));
    return undefined;
  },
});
