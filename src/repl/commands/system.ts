import { runInTerminal } from '../files/program.ts';
import { editText } from '../terminal/editor.ts';
import { printable } from '../terminal/printable.ts';
import { printProse } from '../terminal/prose.ts';
import type { Command } from './command.ts';
import { wrongUse } from './usage-error.ts';

/** /system [show | edit | preview | reset | text] */
export const systemCommand: Command = {
  name: 'system',
  usage: '[show | edit | preview | reset]',
  help: "the system prompt of this session; preview: with instructions and the servers' own",
  complete: () => ['show', 'edit', 'preview', 'reset'],
  async run({ chat, terminal }, args) {
    const own = chat.session.path().findLast(({ type }) => type === 'system');
    const text = (own?.type === 'system' ? own.text : null) ?? chat.world.config.systemPrompt ?? '';
    switch (args) {
      case '':
      case 'show':
        printProse(
          terminal,
          text === '' ? 'The usual one; /system preview shows it whole.' : printable(text),
        );
        return undefined;
      case 'preview':
        await chat.readInstructions();
        printProse(terminal, printable(chat.system()));
        return undefined;
      case 'reset':
        chat.useSystem(null);
        return undefined;
      case 'edit': {
        const edited = await terminal.handOver(() => editText(text, chat.world.options.env, runInTerminal));
        if (edited !== undefined) chat.useSystem(edited.trim() === '' ? null : edited);
        return undefined;
      }
      default:
        throw wrongUse(`/system ${args}: show, edit, preview or reset is expected.`);
    }
  },
};
