import { nameOf } from '../models/model.ts';
import { printable } from '../terminal/printable.ts';
import { wrapped } from '../terminal/prose.ts';
import { table } from '../terminal/table.ts';
import { shownName } from '../toolbox/tool.ts';
import { offeredTools } from '../turn/agent.ts';
import { fillNow, windowOf } from '../turn/shorten.ts';
import { misused, prose, wrongUse, type Command, type CommandGroup, type Console } from './command.ts';

/** What can be typed besides. */
const keys = `Alt+Enter or a backslash at the end: another line · Tab completes · Shift+Tab changes the mode
@file, @dir/ and @server:uri bring their content along · Esc or Ctrl-C interrupts, twice leaves · lines \
typed meanwhile are queued`;

/** /help, /status, /last, /thoughts */
export const lookCommands = (groups: () => readonly CommandGroup[]): readonly Command[] => [
  {
    name: 'help',
    aliases: ['?'],
    usage: '[COMMAND]',
    help: 'lists the commands, or explains one',
    complete: () => groups().flatMap(({ commands }) => commands.map(({ name }) => name)),
    run({ terminal }, args) {
      const wanted = args.replace(/^\//, '');
      if (wanted === '') return helpText(groups(), terminal);
      const all = groups().flatMap(({ commands }) => commands);
      const command = all.find(({ name, aliases }) => name === wanted || aliases?.includes(wanted));
      if (!command) throw wrongUse(`There is no command /${wanted}. /help lists them.`);
      return table([rowOf(command)], terminal.width).join('\n');
    },
  },
  {
    name: 'status',
    help: 'shows model, mode, session, context and cost',
    run: ({ chat, terminal }) => table(statusRows(chat), terminal.width).join('\n'),
  },
  {
    name: 'last',
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
  {
    name: 'thoughts',
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
];

const rowOf = ({ name, usage, help }: Command): [string, string] => [
  `/${name}${usage ? ` ${usage}` : ''}`,
  help,
];

function helpText(groups: readonly CommandGroup[], { width, paint }: Console['terminal']): string {
  const lines = groups.flatMap(({ title, commands }) => [
    paint.strong(title),
    ...table(commands.map(rowOf), width - 2).map((line) => `  ${line}`),
  ]);
  return [...lines, paint.dim(wrapped(keys, width))].join('\n');
}

function statusRows(chat: Console['chat']): string[][] {
  const { session, model, mode, roots, profile, world } = chat;
  const { tokens, estimated, percent, available } = fillNow(chat);
  const { input, cacheRead, cacheWrite, output, cost } = world.spent;
  const servers = world.toolbox.servers();
  const ready = servers.filter(({ state }) => state === 'ready').length;
  const aliases = Object.keys(world.config.models).filter(
    (name) => world.config.models[name]?.model === nameOf(model),
  );
  const filled = `${estimated ? '~' : ''}${tokens} of ${windowOf(chat)} tokens (${percent} %)`;
  const price = cost === undefined ? '' : `, cost ${cost.toFixed(4)}`;
  const read = `${input + cacheWrite} read, ${cacheRead} from the cache, ${output} written`;
  return [
    ['model', printable(`${nameOf(model)}${aliases.length > 0 ? ` (${aliases.join(', ')})` : ''}`)],
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
