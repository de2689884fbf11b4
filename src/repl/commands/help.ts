import { wrapped } from '../terminal/prose.ts';
import { table } from '../terminal/show.ts';
import { padToCells, wrapToCells } from '../terminal/width.ts';
import type { Command, CommandGroup } from './command.ts';
import { wrongUse } from './usage-error.ts';

/** What can be typed besides. */
const keys = `Alt+Enter or a backslash at the end: another line · """ begins and ends a longer text · Tab completes · Shift+Tab changes the mode
@file, @dir/ and @server:uri bring their content along · Esc or Ctrl-C interrupts, twice leaves · lines typed meanwhile are queued`;

/** /help [command] */
export const helpCommand = (groups: () => readonly CommandGroup[]): Command => ({
  name: 'help',
  aliases: ['?'],
  usage: '[command]',
  help: 'lists the commands, or explains one',
  complete: () => groups().flatMap(({ commands }) => commands.map(({ name }) => name)),
  run({ terminal }, args) {
    const wanted = args.replace(/^\//, '');
    const { width, paint } = terminal;
    const row = ({ name, usage, help }: Command) => [`/${name}${usage ? ` ${usage}` : ''}`, help];
    if (wanted !== '') {
      const named = ({ name, aliases }: Command) => name === wanted || aliases?.includes(wanted);
      const command = groups()
        .flatMap(({ commands }) => commands)
        .find(named);
      if (!command) throw wrongUse(`There is no command /${wanted}. /help lists them.`);
      terminal.print(table([row(command)], width).join('\n'));
      return undefined;
    }
    const first = Math.min(24, width >> 1);
    const lines = groups().flatMap(({ title, commands }) => [
      paint.strong(title),
      ...commands.map(row).flatMap(([usage = '', help = '']) => {
        const left = wrapToCells(usage, first - 4).map((line, at) => `${at === 0 ? '  ' : '    '}${line}`);
        const right = wrapToCells(help, width - 3 - first);
        return Array.from({ length: Math.max(left.length, right.length) }, (_, at) =>
          `${padToCells(left[at] ?? '', first)}  ${right[at] ?? ''}`.trimEnd(),
        );
      }),
    ]);
    terminal.print(lines.join('\n'));
    terminal.print(paint.dim(wrapped(keys, width)));
    return undefined;
  },
});
