import { askModelItself } from '../assemble.ts';
import { listModels } from '../models/choose-model.ts';
import { nameOf } from '../models/model.ts';
import { printable } from '../terminal/printable.ts';
import { oneLineEach } from '../terminal/show.ts';
import type { Command, Console } from './command.ts';

/** /model [name[: message]]: shows, changes, or uses another one for a single message. */
export const modelCommand: Command = {
  name: 'model',
  usage: '[name | name: message]',
  help: 'shows the models, changes to one, or asks one a single question',
  sends: true,
  complete: ({ chat }) => listModels(chat.world.config, chat.world.options.env).map(({ name }) => name),
  async run({ chat, terminal }: Console, args) {
    const { modelOf, config, options } = chat.world;
    const once = /^(\S+):\s+([^]+)$/.exec(args);
    if (once) {
      const [, name, text = ''] = once;
      return { next: 'send', text, model: modelOf(name) };
    }
    if (args === '') {
      const rows = listModels(config, options.env).map(({ name, note }): [string, string] => [
        // An alias is shown with what it stands for.
        [name, note].includes(nameOf(chat.model)) ? `* ${name}` : `  ${name}`,
        note,
      ]);
      const { contextWindow } = chat.model.capabilities;
      terminal.print(`${printable(nameOf(chat.model))}, a window of ${contextWindow} tokens`);
      terminal.print(oneLineEach(rows, terminal.width).join('\n'));
      return undefined;
    }
    chat.useModel(modelOf(args));
    await askModelItself(chat);
    chat.session.append({ type: 'model', model: nameOf(chat.model) });
    terminal.print(terminal.paint.dim(`model ${printable(nameOf(chat.model))}`));
    return undefined;
  },
};
