import { budgetOf, usedTokens } from '../context/budget.ts';
import { nameOf } from '../models/model.ts';
import { offeredTools } from '../offered-tools.ts';
import { createSession } from '../session/session.ts';
import { contextOf, shorten, windowOf } from '../shorten.ts';
import { printable } from '../terminal/printable.ts';
import { table } from '../terminal/show.ts';
import type { Command, Console } from './command.ts';

/** /compact [focus], /new, /clear, /status */
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
      chat.useSession(
        createSession(store, { cwd: options.cwd, ...(options.temporary ? { temporary: true } : {}) }),
      );
      terminal.print(terminal.paint.dim('a new session'));
      return undefined;
    },
  },
  {
    name: 'clear',
    help: 'forgets the conversation in this session; /tree still shows it',
    run({ chat, terminal }) {
      chat.session.moveTo(null);
      terminal.print(terminal.paint.dim('the conversation begins anew'));
      return undefined;
    },
  },
  {
    name: 'status',
    help: 'shows model, mode, session, context and cost',
    run({ chat, terminal }) {
      terminal.print(table(statusRows(chat), terminal.width).join('\n'));
      return undefined;
    },
  },
];

function statusRows(chat: Console['chat']): string[][] {
  const { session, model, mode, roots, profile } = chat;
  const { contextWindow, price } = model.capabilities;
  const { tokens, estimated } = usedTokens(contextOf(chat).messages, offeredTools(chat), chat.system());
  const usages = session.path().flatMap((entry) => (entry.type === 'assistant' ? [entry.message.usage] : []));
  const sum = (key: 'input' | 'output' | 'cacheRead' | 'cacheWrite') =>
    usages.reduce((total, usage) => total + usage[key], 0);
  const { limit } = budgetOf(windowOf(chat));
  const cost =
    price &&
    ((sum('input') + sum('cacheWrite')) * price.input +
      sum('output') * price.output +
      sum('cacheRead') * (price.cacheRead ?? price.input)) /
      1e6;
  const servers = chat.world.toolbox.servers();
  return [
    ['model', printable(nameOf(model))],
    ['mode', mode],
    ...(profile ? [['profile', profile.name]] : []),
    [
      'session',
      `${printable(session.name ?? 'without a name')}  ${session.file === undefined ? 'not kept' : session.id}`,
    ],
    [
      'context',
      `${estimated ? '~' : ''}${tokens} of ${contextWindow} tokens (${Math.round((100 * tokens) / contextWindow)} %), shortened from ${limit}`,
    ],
    [
      'used so far',
      `${sum('input')} read, ${sum('cacheRead')} from the cache, ${sum('output')} written${cost === undefined ? '' : `, ${cost.toFixed(4)}`}`,
    ],
    [
      'tools',
      `${offeredTools(chat).length} of ${servers.filter(({ state }) => state === 'ready').length} servers`,
    ],
    ['roots', roots.map(printable).join(', ')],
  ];
}
