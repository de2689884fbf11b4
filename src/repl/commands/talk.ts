import type { Chat } from '../chat.ts';
import { fillNow } from '../context/compaction.ts';
import { textOf } from '../message.ts';
import { nameOf } from '../models/model.ts';
import { runSubAgent } from '../built-in-tools/built-in-tools.ts';
import type { EntryOf } from '../session/entry.ts';
import { printable } from '../terminal/printable.ts';
import { todoLines } from '../terminal/show.ts';
import { table } from '../terminal/rows.ts';
import { shownName } from '../toolbox/tool.ts';
import { availableTools } from '../turn/prepare-call.ts';
import { send, turn, untilConnected } from '../turn/turn.ts';
import { editedBy, leaving, misused, prose, wrongUse, type SlashCommands } from './command.ts';

const meanings = {
  plan: 'only what reads; ends with a plan for your approval',
  ask: 'asks before anything that is not known to only read',
  auto: 'does not ask for what cannot destroy and stays on this machine',
  yolo: 'asks nothing at all',
};

export const talkCommands: SlashCommands = {
  retry: {
    usage: '[MODEL]',
    help: 'has the last message answered once more, on a branch of its own',
    async run({ chat, showTurn }, name) {
      const last = lastUserMessage(chat);
      const model = name === '' ? undefined : chat.environment.modelOf(name);
      chat.session.moveTo(last.id);
      await showTurn((signal) => turn(chat, signal), model);
    },
  },
  edit: {
    usage: '[last | TEXT]',
    help: 'writes a message in your editor; last: changes the last one, on a branch of its own',
    sends: true,
    async run(context, args) {
      const { chat } = context;
      const old = args === 'last' ? lastUserMessage(chat) : undefined;
      const text = (await editedBy(context, old ? typedText(old) : args))?.trimEnd() ?? '';
      if (text === '') return;
      if (old) chat.session.moveTo(old.parent);
      await context.showTurn((signal) => send(chat, { text }, signal));
    },
  },
  mode: {
    usage: '[plan | ask | auto]',
    help: 'shows or changes what is asked about',
    run({ chat, terminal }, args) {
      if (args === 'yolo') throw wrongUse('/mode yolo: yolo is a flag of the command line only.');
      if (args === 'plan' || args === 'ask' || args === 'auto') chat.useMode(args);
      else if (args !== '') return misused;
      return prose(terminal, `mode ${chat.mode}: ${meanings[chat.mode]}`);
    },
  },
  todo: {
    help: 'what is to be done, as the model keeps it',
    run({ chat, terminal }) {
      // As the model last wrote it on this branch.
      const { todos = [] } = chat.session.path().findLast((entry) => entry.type === 'todos') ?? {};
      const lines = todoLines(todos, terminal.paint);
      return prose(terminal, lines.join('\n') || 'Nothing is to be done.');
    },
  },
  agent: {
    usage: 'TASK',
    help: 'has a task done in a context of its own; only the answer comes back',
    async run({ chat, showTurn }, task) {
      if (task === '') return misused;
      await showTurn((signal) => agentEvents(chat, task, signal));
    },
  },
  stop: {
    help: 'interrupts the model and empties the queue',
    run: ({ terminal }) => {
      terminal.takeQueued();
    },
  },
  exit: {
    help: 'leaves; the session is kept',
    run: () => leaving,
  },
};

export const lookCommands: SlashCommands = {
  status: {
    help: 'shows model, mode, session, context and cost',
    run: ({ chat, terminal }) => table(statusRows(chat), terminal.width).join('\n'),
  },
  last: {
    help: 'the whole result of the last call',
    run({ chat }) {
      const lastResult = chat.session
        .path()
        .findLast((entry) => entry.type === 'tool' && entry.state === 'done');
      if (lastResult?.type !== 'tool') return 'No tool was called yet.';
      const tool = chat.tools().find(({ name }) => name === lastResult.name);
      return `${printable(tool ? shownName(tool) : lastResult.name)}:\n${printable(lastResult.text ?? '')}`;
    },
  },
  thoughts: {
    usage: '[on | off | think | do not think]',
    help:
      'what the model thought; on, off: whether thoughts are shown as they come; think: whether ' +
      'it should',
    run(context, args) {
      const { terminal, chat } = context;
      if (args === '') {
        const last = chat.session.path().findLast((entry) => entry.type === 'assistant');
        return prose(terminal, printable(last?.message.reasoning || 'No thoughts were told.'));
      }
      if (args === 'on' || args === 'off') context.thoughts = args === 'on';
      else if (args === 'think' || args === 'do not think') chat.thinking = args === 'think';
      else return misused;
      return terminal.paint.dim(`thoughts: ${args}`);
    },
  },
};

async function* agentEvents(chat: Chat, task: string, signal: AbortSignal) {
  await untilConnected(chat, signal);
  const { text, isError } = yield* runSubAgent(chat, task, signal);
  yield { type: isError ? ('warning' as const) : ('text' as const), text };
  if (!isError)
    chat.contextUpdates.add(`A sub-agent was given this task by the person: ${task}\nIts answer:\n${text}`);
  yield { type: 'ended' as const, reason: signal.aborted ? ('interrupted' as const) : ('done' as const) };
}

/** The text that stands in the line when a message is to be changed. */
export const typedText = ({ typed, content }: EntryOf<'user'>): string => typed ?? textOf(content);

function lastUserMessage({ session }: Chat): EntryOf<'user'> {
  // A message of our own, which asks a silent model to go on, has nothing typed.
  const last = session.path().findLast((entry) => entry.type === 'user' && entry.typed !== '');
  if (last?.type !== 'user') throw wrongUse('Nothing was said yet.');
  return last;
}

function statusRows(chat: Chat): string[][] {
  const { session, model, mode, roots, profile, environment } = chat;
  const { tokens, estimated, window, percent, available } = fillNow(chat);
  const { input, cacheRead, cacheWrite, output, cost } = environment.usageTotals;
  const servers = environment.toolbox.servers();
  const ready = servers.filter(({ state }) => state === 'ready').length;
  const filled = `${estimated ? '~' : ''}${tokens} of ${window} tokens (${percent} %)`;
  const price = cost === undefined ? '' : `, cost ${cost.toFixed(4)}`;
  const read = `${input + cacheWrite} read, ${cacheRead} from the cache, ${output} written`;
  const name = printable(session.state.name ?? 'without a name');
  return [
    ['model', printable(nameOf(model))],
    ['mode', mode],
    ...(profile ? [['profile', profile.name]] : []),
    ['session', `${name}  ${chat.isKept ? session.id : 'not kept'}`],
    ['context', `${filled}, ${available} more until it is shortened`],
    ['used so far', `${read}${price} (since the start, sub-agents and summaries too)`],
    ['tools', `${availableTools(chat).length} offered; ${ready} of ${servers.length} servers ready`],
    ['roots', roots.map(printable).join(', ')],
  ];
}
