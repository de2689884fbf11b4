import { profilesOf, useNamedProfile } from '../assemble.ts';
import { nameOf } from '../models/model.ts';
import { printable } from '../terminal/printable.ts';
import { table } from '../terminal/show.ts';
import type { Command } from './command.ts';

/** /profile [name | none] */
export const profileCommand: Command = {
  name: 'profile',
  usage: '[name | none]',
  help: 'shows the profiles, or takes one into use',
  complete: async ({ chat }) => ['none', ...(await profilesOf(chat.world, () => undefined)).keys()],
  async run({ chat, terminal }, args) {
    if (args === '') {
      let none = 'There are no profiles yet: docs/repl.md says how to write one.';
      const warn = (text: string) => {
        none = 'There are no profiles that can be used.';
        chat.warn(text);
      };
      const all = [...(await profilesOf(chat.world, warn)).values()];
      const rows = all.map(({ name, description }) => [
        chat.profile?.name === name ? `* ${name}` : `  ${name}`,
        printable(description ?? ''),
      ]);
      terminal.print(rows.length === 0 ? none : table(rows, terminal.width).join('\n'));
      return undefined;
    }
    if (args === 'none') chat.useProfile(undefined);
    else await useNamedProfile(chat, args);
    terminal.print(
      terminal.paint.dim(`profile ${args}, mode ${chat.mode}, model ${printable(nameOf(chat.model))}`),
    );
    return undefined;
  },
};
