import { printable } from '../terminal/printable.ts';
import { shownName } from '../toolbox/tool.ts';
import { printProse } from '../terminal/prose.ts';
import type { Command } from './command.ts';
import { wrongUse } from './usage-error.ts';

/** /last, /thoughts */
export const shownCommands: readonly Command[] = [
  {
    name: 'last',
    help: 'the whole result of the last call',
    run({ chat, terminal, view }) {
      const seen = view()?.last;
      // That of an earlier turn is as the model was told it.
      const told = chat.session.path().findLast((entry) => entry.type === 'tool' && entry.state === 'done');
      const tool = told?.type === 'tool' && chat.tools().find(({ name }) => name === told.name);
      const [name, text = ''] = seen
        ? [seen.title, seen.reply.text]
        : told?.type === 'tool'
          ? [tool ? shownName(tool) : told.name, told.text]
          : [];
      terminal.print(
        name === undefined ? 'No tool was called yet.' : `${printable(name)}:\n${printable(text)}`,
      );
      return undefined;
    },
  },
  {
    name: 'thoughts',
    usage: '[on | off | think | do not think]',
    help: 'what the model thought; on, off: whether thoughts are shown as they come; think: whether it should',
    complete: () => ['on', 'off', 'think', 'do not think'],
    run(console, args) {
      const { terminal, chat, view } = console;
      if (args === '') printProse(terminal, printable(view()?.thoughts || 'No thoughts were told.'));
      else if (args === 'on' || args === 'off') console.thoughts = args === 'on';
      else if (args === 'think' || args === 'do not think') chat.thinking = args === 'think';
      else throw wrongUse(`/thoughts ${args}: on, off, think or do not think is expected.`);
      return undefined;
    },
  },
];
