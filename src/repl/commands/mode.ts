import { printProse } from '../terminal/prose.ts';
import type { Command } from './command.ts';
import { wrongUse } from './usage-error.ts';

const modes = ['plan', 'ask', 'auto'] as const;

const meanings: Readonly<Record<string, string>> = {
  plan: 'only what reads; ends with a plan for your approval',
  ask: 'asks before anything that is not known to only read',
  auto: 'does not ask for what cannot destroy and stays on this machine',
  yolo: 'asks nothing at all',
};

/** /mode [plan|ask|auto], /plan [task] */
export const modeCommands: readonly Command[] = [
  {
    name: 'mode',
    usage: '[plan | ask | auto]',
    help: 'shows or changes what is asked about',
    complete: () => modes,
    run({ chat, terminal }, args) {
      const mode = modes.find((one) => one === args);
      if (args !== '' && !mode) {
        const hint =
          args === 'yolo' ? 'yolo is a flag of the command line only.' : 'plan, ask or auto is expected.';
        throw wrongUse(`/mode ${args}: ${hint}`);
      }
      if (mode) chat.useMode(mode);
      printProse(terminal, `mode ${chat.mode}: ${meanings[chat.mode]}`);
      return undefined;
    },
  },
  {
    name: 'plan',
    usage: '[task]',
    help: 'changes to plan mode, and begins with the task',
    sends: true,
    run({ chat, terminal }, args) {
      chat.useMode('plan');
      printProse(terminal, terminal.paint.dim(`mode plan: ${meanings['plan']}`));
      return args === '' ? undefined : { next: 'send', text: args };
    },
  },
];
