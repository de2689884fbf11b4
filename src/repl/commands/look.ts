import { nameOf } from '../models/model.ts';
import { printable } from '../terminal/printable.ts';
import { table } from '../terminal/table.ts';
import { shownName } from '../toolbox/tool.ts';
import { offeredTools } from '../turn/agent.ts';
import { fillNow, windowOf } from '../turn/shorten.ts';
import { misused, prose, type Commands, type Console } from './command.ts';

export const lookCommands: Commands = {
  status: {
    help: 'shows model, mode, session, context and cost',
    run: ({ chat, terminal }) => table(statusRows(chat), terminal.width).join('\n'),
  },
  last: {
    help: 'the whole result of the last call',
    run({ chat, view }) {
      const seen = view()?.last;
      if (seen) return `${printable(seen.title)}:\n${printable(seen.reply.text)}`;
      // That of an earlier turn is as the model was told it.
      const told = chat.session.path().findLast((entry) => entry.type === 'tool' && entry.state === 'done');
      if (told?.type !== 'tool') return 'No tool was called yet.';
      const tool = chat.tools().find(({ name }) => name === told.name);
      return `${printable(tool ? shownName(tool) : told.name)}:\n${printable(told.text ?? '')}`;
    },
  },
  thoughts: {
    usage: '[on | off | think | do not think]',
    help: 'what the model thought; on, off: whether thoughts are shown as they come; think: whether it should',
    run(console, args) {
      const { terminal, chat, view } = console;
      if (args === '') return prose(terminal, printable(view()?.thoughts || 'No thoughts were told.'));
      if (args === 'on' || args === 'off') console.thoughts = args === 'on';
      else if (args === 'think' || args === 'do not think') chat.thinking = args === 'think';
      else return misused;
      return undefined;
    },
  },
};

function statusRows(chat: Console['chat']): string[][] {
  const { session, model, mode, roots, profile, world } = chat;
  const { tokens, estimated, percent, available } = fillNow(chat);
  const { input, cacheRead, cacheWrite, output, cost } = world.spent;
  const servers = world.toolbox.servers();
  const ready = servers.filter(({ state }) => state === 'ready').length;
  const filled = `${estimated ? '~' : ''}${tokens} of ${windowOf(chat)} tokens (${percent} %)`;
  const price = cost === undefined ? '' : `, cost ${cost.toFixed(4)}`;
  const read = `${input + cacheWrite} read, ${cacheRead} from the cache, ${output} written`;
  return [
    ['model', printable(nameOf(model))],
    ['mode', mode],
    ...(profile ? [['profile', profile.name]] : []),
    [
      'session',
      `${printable(session.state.name ?? 'without a name')}  ${chat.isKept ? session.id : 'not kept'}`,
    ],
    ['context', `${filled}, ${available} more until it is shortened`],
    ['used so far', `${read}${price} (since the start, sub-agents and summaries too)`],
    ['tools', `${offeredTools(chat).length} offered; ${ready} of ${servers.length} servers ready`],
    ['roots', roots.map(printable).join(', ')],
  ];
}
