import { nameOf } from '../models/model.ts';
import { offeredTools } from '../turn/offered-tools.ts';
import { createSession, memorySession } from '../session/session.ts';
import { fillNow, shorten, windowOf } from '../turn/shorten.ts';
import { printable } from '../terminal/printable.ts';
import { table } from '../terminal/show.ts';
import { isKept } from '../chat.ts';
import type { Command, Console } from './command.ts';

/** /compact [focus], /new, /clear */
export const contextCommands: readonly Command[] = [
  {
    name: 'compact',
    usage: '[what matters]',
    help: 'shortens the conversation to a summary',
    run: ({ chat }, focus) => ({
      next: 'show',
      events: (signal) => shorten(chat, { signal, why: 'asked', ...(focus === '' ? {} : { focus }) }),
    }),
  },
  {
    name: 'new',
    help: 'begins a new session; this one is kept',
    run({ chat, terminal }) {
      const { store, options } = chat.world;
      const { cwd, temporary, session } = options;
      chat.useSession(
        session.kind === 'none'
          ? memorySession(cwd)
          : createSession(store, { cwd, ...(temporary ? { temporary } : {}) }),
      );
      terminal.print(terminal.paint.dim('a new session'));
      return undefined;
    },
  },
  {
    name: 'clear',
    help: 'forgets the conversation in this session; /tree still shows it',
    run({ chat, terminal }) {
      chat.moveTo(null);
      terminal.print(terminal.paint.dim('the conversation begins anew'));
      return undefined;
    },
  },
];

export const statusCommand: Command = {
  name: 'status',
  help: 'shows model, mode, session, context and cost',
  run({ chat, terminal }) {
    terminal.print(table(statusRows(chat), terminal.width).join('\n'));
    return undefined;
  },
};

function statusRows(chat: Console['chat']): string[][] {
  const { session, model, mode, roots, profile } = chat;
  const { tokens, estimated, percent, available } = fillNow(chat);
  const { input, cacheRead, cacheWrite, output, cost } = chat.world.spent;
  const servers = chat.world.toolbox.servers();
  const aliases = Object.entries(chat.world.config.models)
    .filter(([, alias]) => alias.model === nameOf(model))
    .map(([name]) => name);
  return [
    [
      'model',
      printable([nameOf(model), ...(aliases.length > 0 ? [`(${aliases.join(', ')})`] : [])].join(' ')),
    ],
    ['mode', mode],
    ...(profile ? [['profile', profile.name]] : []),
    ['session', `${printable(session.name ?? 'without a name')}  ${isKept(chat) ? session.id : 'not kept'}`],
    [
      'context',
      `${estimated ? '~' : ''}${tokens} of ${windowOf(chat)} tokens (${percent} %), ${available} more until it is shortened`,
    ],
    [
      'used so far',
      `${input + cacheWrite} read, ${cacheRead} from the cache, ${output} written${cost === undefined ? '' : `, cost ${cost.toFixed(4)}`} (since the start, sub-agents and summaries too)`,
    ],
    [
      'tools',
      `${offeredTools(chat).length} offered; ${servers.filter(({ state }) => state === 'ready').length} of ${servers.length} servers ready`,
    ],
    ['roots', roots.map(printable).join(', ')],
  ];
}
