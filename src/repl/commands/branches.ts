import { textOf } from '../message.ts';
import type { Entry } from '../session/entry.ts';
import { forkSession, treeLines, userEntries } from '../session/fork.ts';
import { editText } from '../terminal/editor.ts';
import { printable } from '../terminal/printable.ts';
import { runInTerminal } from '../program.ts';
import type { Command, Console } from './command.ts';
import { wrongUse } from './usage-error.ts';

type UserEntry = Extract<Entry, { type: 'user' }>;

/** /tree, /branch, /fork, /retry, /edit */
export const branchCommands: readonly Command[] = [
  {
    name: 'tree',
    help: 'shows the session with all its branches',
    run({ chat, terminal }) {
      const { dim, strong } = terminal.paint;
      const lines = treeLines(chat.session).map(({ id, depth, label, current }) => {
        const text = `${'  '.repeat(depth)}${dim(id)} ${printable(label)}`;
        return current ? strong(`* ${text}`) : `  ${text}`;
      });
      terminal.print(lines.length === 0 ? 'Nothing was said yet.' : lines.join('\n'));
      return undefined;
    },
  },
  {
    name: 'branch',
    usage: 'id',
    help: 'goes back to a message, to say something else, or to an answer, to go on from there',
    complete: ({ chat }) => treeLines(chat.session).map(({ id }) => id),
    run({ chat, terminal }, id) {
      const entry = entryOf(chat, id);
      if (entry.type === 'user') {
        chat.session.moveTo(entry.parent);
        terminal.prefill(said(entry));
      } else if (entry.type === 'assistant' && entry.message.calls.length > 0) {
        throw wrongUse(
          `/branch ${id}: that answer made calls, whose results come after it. Choose a message of yours.`,
        );
      } else chat.session.moveTo(entry.id);
      return undefined;
    },
  },
  {
    name: 'fork',
    usage: '[id]',
    help: 'goes on in a copy: of all of it, or up to before a message',
    run({ chat, terminal }, id) {
      const { store } = chat.world;
      const entry = id === '' ? undefined : entryOf(chat, id);
      const at = entry?.type === 'user' ? (entry.parent ?? undefined) : entry?.id;
      const fork = forkSession(store, chat.session, at);
      if (entry?.type === 'user') {
        if (entry.parent === null) fork.moveTo(null);
        terminal.prefill(said(entry));
      }
      chat.useSession(fork);
      terminal.print(terminal.paint.dim(`a copy of the session: ${fork.id}`));
      return undefined;
    },
  },
  {
    name: 'retry',
    usage: '[model]',
    help: 'has the last message answered once more, on a branch of its own',
    run({ chat }, name) {
      const last = lastSaid(chat);
      const model = name === '' ? undefined : chat.world.modelOf(name);
      chat.session.moveTo(last.id);
      return { next: 'run', ...(model ? { model } : {}) };
    },
  },
  {
    name: 'edit',
    usage: '[last | id | text]',
    help: 'writes a message in your editor; last or an id: changes that one and branches there',
    async run({ chat, terminal }, args) {
      const entry = args === 'last' ? lastSaid(chat) : chat.session.entry(args);
      const old = entry?.type === 'user' ? entry : undefined;
      const { env } = chat.world.options;
      const text = await terminal.handOver(() => editText(old ? said(old) : args, env, runInTerminal));
      if (text === undefined || text.trim() === '') return undefined;
      if (old) chat.session.moveTo(old.parent);
      return { next: 'send', text: text.trimEnd() };
    },
  },
];

function entryOf({ session }: Console['chat'], id: string): Entry {
  const entry = id === '' ? undefined : session.entry(id);
  if (!entry) throw wrongUse(`There is no entry "${id}" in this session; /tree shows them.`);
  return entry;
}

function lastSaid({ session }: Console['chat']): UserEntry {
  // A message of our own, which asks a silent model to go on, has nothing typed.
  const last = userEntries(session).findLast(({ typed }) => typed !== '');
  if (!last) throw wrongUse('Nothing was said yet.');
  return last;
}

const said = ({ typed, content }: UserEntry): string =>
  typed ?? textOf(content.filter((part) => part.type !== 'stored'));
