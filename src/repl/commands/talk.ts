import { runSubAgent } from '../own-tools/sub-agent.ts';
import type { EntryOf } from '../session/entry.ts';
import { textOf } from '../message.ts';
import { todoLines } from '../terminal/show.ts';
import { turn, untilConnected } from '../turn/send.ts';
import { editedBy, misused, prose, sending, wrongUse, type Commands, type Console } from './command.ts';

const meanings = {
  plan: 'only what reads; ends with a plan for your approval',
  ask: 'asks before anything that is not known to only read',
  auto: 'does not ask for what cannot destroy and stays on this machine',
  yolo: 'asks nothing at all',
};

export const talkCommands: Commands = {
  retry: {
    usage: '[MODEL]',
    help: 'has the last message answered once more, on a branch of its own',
    run({ chat }, name) {
      const last = lastSaid(chat);
      const model = name === '' ? undefined : chat.world.modelOf(name);
      chat.session.moveTo(last.id);
      return { next: 'show', ...(model && { model }), events: (signal) => turn(chat, signal) };
    },
  },
  edit: {
    usage: '[last | TEXT]',
    help: 'writes a message in your editor; last: changes the last one, on a branch of its own',
    sends: true,
    async run(console, args) {
      const { chat } = console;
      const old = args === 'last' ? lastSaid(chat) : undefined;
      const text = await editedBy(console, old ? said(old) : args);
      if (text === undefined || text.trim() === '') return undefined;
      if (old) chat.session.moveTo(old.parent);
      return sending(chat, { text: text.trimEnd() });
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
      const entry = chat.session.path().findLast(({ type }) => type === 'todos');
      const lines = entry?.type === 'todos' ? todoLines(entry.todos, terminal.paint) : [];
      return prose(terminal, lines.join('\n') || 'Nothing is to be done.');
    },
  },
  agent: {
    usage: 'TASK',
    help: 'has a task done in a context of its own; only the answer comes back',
    run: ({ chat }, task) =>
      task === '' ? misused : { next: 'show', events: (signal) => agentEvents(chat, task, signal) },
  },
  stop: {
    help: 'interrupts the model and empties the queue',
    run: ({ terminal }) => void terminal.takeQueued(),
  },
  exit: {
    help: 'leaves; the session is kept',
    run: () => ({ next: 'leave' }),
  },
};

async function* agentEvents(chat: Console['chat'], task: string, signal: AbortSignal) {
  await untilConnected(chat, signal);
  const { text, isError } = yield* runSubAgent(chat, task, signal);
  yield { type: isError ? ('warning' as const) : ('text' as const), text };
  if (!isError)
    chat.news.tell(`A sub-agent was given this task by the person: ${task}\nIts answer:\n${text}`);
  yield { type: 'ended' as const, reason: signal.aborted ? ('interrupted' as const) : ('done' as const) };
}

/** What stands in the line when a message is to be changed. */
export const said = ({ line, typed, content }: EntryOf<'user'>): string => line ?? typed ?? textOf(content);

function lastSaid({ session }: Console['chat']): EntryOf<'user'> {
  // A message of our own, which asks a silent model to go on, has nothing typed.
  const last = session.path().findLast((entry) => entry.type === 'user' && entry.typed !== '');
  if (last?.type !== 'user') throw wrongUse('Nothing was said yet.');
  return last;
}
