import type { Chat } from '../chat.ts';
import { printProse } from '../terminal/prose.ts';
import { todoLines } from '../terminal/show.ts';
import type { Todo } from '../session/entry.ts';
import type { Command } from './command.ts';
import { wrongUse } from './usage-error.ts';

/** /todo [add text | done number | remove number | clear] */
export const todoCommand: Command = {
  name: 'todo',
  aliases: ['todos'],
  usage: '[add text | done n | remove n | clear]',
  help: 'what is to be done, as the model keeps it; you can change it, too',
  complete: () => ['add', 'done', 'remove', 'clear'],
  run({ chat, terminal }, args) {
    const todos = todosOf(chat);
    const changed = args === '' ? todos : change(todos, args);
    if (changed !== todos) {
      chat.session.append({ type: 'todos', todos: changed });
      chat.tell(`The person has changed the list of what is to be done: ${JSON.stringify(changed)}`);
    }
    printProse(
      terminal,
      changed.length === 0 ? 'Nothing is to be done.' : todoLines(changed, terminal.paint).join('\n'),
    );
    return undefined;
  },
};

/** The list of what is to be done, as the model last wrote it on this branch. */
function todosOf({ session }: Chat): readonly Todo[] {
  const entry = session.path().findLast(({ type }) => type === 'todos');
  return entry?.type === 'todos' ? entry.todos : [];
}

function change(todos: readonly Todo[], args: string): readonly Todo[] {
  const [, word, rest = ''] = /^(\S+)\s*([^]*)$/.exec(args) ?? [];
  if (word === 'clear') return [];
  if (word === 'add' && rest !== '') return [...todos, { text: rest, status: 'pending', priority: 'medium' }];
  const at = Number(rest) - 1;
  if ((word === 'done' || word === 'remove') && !todos[at])
    throw wrongUse(
      `/todo ${word}: ${todos.length === 0 ? 'the list is empty' : `a number from 1 to ${todos.length} is expected`}.`,
    );
  if (word === 'done')
    return todos.map((todo, index) => (index === at ? { ...todo, status: 'completed' } : todo));
  if (word === 'remove') return todos.filter((_, index) => index !== at);
  throw wrongUse(`/todo ${args}: add TEXT, done N, remove N or clear is expected.`);
}
