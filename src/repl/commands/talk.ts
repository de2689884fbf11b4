import { runSubAgent } from '../own-tools/sub-agent.ts';
import type { EntryOf, Todo } from '../session/entry.ts';
import { textOf } from '../message.ts';
import { printable } from '../terminal/printable.ts';
import { todoLines } from '../terminal/show.ts';
import { turn, untilConnected } from '../turn/send.ts';
import {
  editedBy,
  headAndRest,
  misused,
  prose,
  sending,
  wrongUse,
  type Command,
  type Console,
} from './command.ts';

const meanings = {
  plan: 'only what reads; ends with a plan for your approval',
  ask: 'asks before anything that is not known to only read',
  auto: 'does not ask for what cannot destroy and stays on this machine',
  yolo: 'asks nothing at all',
};

/** /retry, /edit, /mode, /plan, /todo, /agent, /queue, /stop, /exit */
export const talkCommands: readonly Command[] = [
  {
    name: 'retry',
    usage: '[MODEL]',
    help: 'has the last message answered once more, on a branch of its own',
    run({ chat }, name) {
      const last = lastSaid(chat);
      const model = name === '' ? undefined : chat.world.modelOf(name);
      chat.session.moveTo(last.id);
      return { next: 'show', ...(model && { model }), events: (signal) => turn(chat, signal) };
    },
  },
  {
    name: 'edit',
    usage: '[last | ID | TEXT]',
    help: 'writes a message in your editor; last or an ID: changes that one and branches there',
    sends: true,
    async run(console, args) {
      const { chat } = console;
      const entry = args === 'last' ? lastSaid(chat) : chat.session.entry(args);
      const old = entry?.type === 'user' ? entry : undefined;
      const text = await editedBy(console, old ? said(old) : args);
      if (text === undefined || text.trim() === '') return undefined;
      if (old) chat.session.moveTo(old.parent);
      return sending(chat, { text: text.trimEnd() });
    },
  },
  {
    name: 'mode',
    usage: '[plan | ask | auto]',
    help: 'shows or changes what is asked about',
    run({ chat, terminal }, args) {
      if (args === 'yolo') throw wrongUse('/mode yolo: yolo is a flag of the command line only.');
      if (args === 'plan' || args === 'ask' || args === 'auto') chat.useMode(args);
      else if (args !== '') return misused;
      return prose(terminal, `mode ${chat.mode}: ${meanings[chat.mode]}`);
    },
  },
  {
    name: 'plan',
    usage: '[TASK]',
    help: 'changes to plan mode, and begins with the task',
    sends: true,
    run({ chat, terminal }, args) {
      chat.useMode('plan');
      terminal.print(prose(terminal, terminal.paint.dim(`mode plan: ${meanings.plan}`)));
      return args === '' ? undefined : sending(chat, { text: args });
    },
  },
  {
    name: 'todo',
    aliases: ['todos'],
    usage: '[add TEXT | done N | remove N | clear]',
    help: 'what is to be done, as the model keeps it; you can change it, too',
    run({ chat, terminal }, args) {
      // As the model last wrote it on this branch.
      const entry = chat.session.path().findLast(({ type }) => type === 'todos');
      const before = entry?.type === 'todos' ? entry.todos : [];
      const todos = args === '' ? before : changed(before, args);
      if (!todos) return misused;
      if (todos !== before) {
        chat.session.append({ type: 'todos', todos });
        chat.news.tell(`The person has changed the list of what is to be done: ${JSON.stringify(todos)}`);
      }
      return prose(terminal, todoLines(todos, terminal.paint).join('\n') || 'Nothing is to be done.');
    },
  },
  {
    name: 'agent',
    usage: 'TASK',
    help: 'has a task done in a context of its own; only the answer comes back',
    run({ chat }, task) {
      if (task === '') throw wrongUse('/agent: a task is expected.');
      return { next: 'show', events: (signal) => agentEvents(chat, task, signal) };
    },
  },
  {
    name: 'queue',
    usage: '[clear]',
    help: 'what was typed while the model was busy',
    run({ terminal }, args) {
      if (args === 'clear') terminal.takeQueued();
      const lines = terminal.queued.map((line, at) => `${at + 1} ${printable(line)}`);
      return lines.join('\n') || 'Nothing is queued.';
    },
  },
  {
    name: 'stop',
    help: 'interrupts the model and empties the queue',
    run: ({ terminal }) => void terminal.takeQueued(),
  },
  {
    name: 'exit',
    aliases: ['quit', 'q'],
    help: 'leaves; the session is kept',
    run: () => ({ next: 'leave' }),
  },
];

async function* agentEvents(chat: Console['chat'], task: string, signal: AbortSignal) {
  await untilConnected(chat, signal);
  const { text, isError } = yield* runSubAgent(chat, task, signal);
  if (isError) yield { type: 'warning' as const, text };
  else {
    yield { type: 'text' as const, text };
    chat.news.tell(`A sub-agent was given this task by the person: ${task}\nIts answer:\n${text}`);
  }
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

function changed(todos: readonly Todo[], args: string): readonly Todo[] | undefined {
  const [word, rest] = headAndRest(args);
  if (word === 'clear') return [];
  if (word === 'add' && rest !== '') return [...todos, { text: rest, status: 'pending', priority: 'medium' }];
  if (word !== 'done' && word !== 'remove') return undefined;
  const at = Number(rest) - 1;
  const range = todos.length === 0 ? 'the list is empty' : `a number from 1 to ${todos.length} is expected`;
  if (!todos[at]) throw wrongUse(`/todo ${word}: ${range}.`);
  if (word === 'remove') return todos.filter((_, index) => index !== at);
  return todos.map((todo, index) => (index === at ? { ...todo, status: 'completed' } : todo));
}
