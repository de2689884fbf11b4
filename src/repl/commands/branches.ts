import { isKept } from '../chat.ts';
import { textOf } from '../message.ts';
import type { Entry } from '../session/entry.ts';
import { forkSession, treeLines, userEntries } from '../session/fork.ts';
import { editText } from '../terminal/editor.ts';
import { printable } from '../terminal/printable.ts';
import { cutToCells } from '../terminal/width.ts';
import { runInTerminal } from '../files/program.ts';
import type { Command, Console } from './command.ts';
import { wrongUse } from './usage-error.ts';

type UserEntry = Extract<Entry, { type: 'user' }>;

/** /tree, /branch, /fork */
export const branchCommands: readonly Command[] = [
  {
    name: 'tree',
    help: 'shows the session with all its branches',
    run({ chat, terminal }) {
      const { dim, strong } = terminal.paint;
      const lines = treeLines(chat.session).map(({ id, depth, mark, label, current }) => {
        const begin = `${current ? '*' : ' '} ${'  '.repeat(mark === '' ? depth : depth - 1)}${mark}`;
        const text = cutToCells(printable(label), terminal.width - 2 - begin.length - id.length);
        const shown = chat.session.entry(id)?.type === 'user' ? text : dim(text);
        return `${begin}${dim(id)} ${current ? strong(text) : shown}`;
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
        chat.moveTo(entry.parent);
        terminal.prefill(said(entry));
      } else {
        withoutCalls('branch', entry);
        chat.moveTo(entry.id);
      }
      return undefined;
    },
  },
  {
    name: 'fork',
    usage: '[id]',
    help: 'goes on in a copy: of all of it, or up to before a message',
    run({ chat, terminal }, id) {
      const { store } = chat.world;
      if (!isKept(chat))
        throw wrongUse(
          '/fork: this session is not kept (--no-session); /branch goes back to a message in it.',
        );
      const entry = id === '' ? undefined : entryOf(chat, id);
      if (entry) withoutCalls('fork', entry);
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
];

/** /retry, /edit */
export const againCommands: readonly Command[] = [
  {
    name: 'retry',
    usage: '[model]',
    help: 'has the last message answered once more, on a branch of its own',
    run({ chat }, name) {
      const last = lastSaid(chat);
      const model = name === '' ? undefined : chat.world.modelOf(name);
      chat.moveTo(last.id);
      return { next: 'run', ...(model ? { model } : {}) };
    },
  },
  {
    name: 'edit',
    usage: '[last | id | text]',
    help: 'writes a message in your editor; last or an id: changes that one and branches there',
    sends: true,
    async run({ chat, terminal }, args) {
      const entry = args === 'last' ? lastSaid(chat) : chat.session.entry(args);
      const old = entry?.type === 'user' ? entry : undefined;
      const { env } = chat.world.options;
      const text = await terminal.handOver(() => editText(old ? said(old) : args, env, runInTerminal));
      if (text === undefined || text.trim() === '') return undefined;
      if (old) chat.moveTo(old.parent);
      return { next: 'send', text: text.trimEnd() };
    },
  },
];

/** Where calls would be left without their results, they would be made again. */
function withoutCalls(command: string, entry: Entry): void {
  if (entry.type === 'assistant' && entry.message.calls.length > 0)
    throw wrongUse(
      `/${command} ${entry.id}: that answer made calls, whose results come after it. Choose a message of yours.`,
    );
}

function entryOf({ session }: Console['chat'], id: string): Entry {
  if (id === '') throw wrongUse('The id of an entry is expected; /tree shows them.');
  const entry = session.entry(id);
  if (!entry) throw wrongUse(`There is no entry "${id}" in this session; /tree shows them.`);
  return entry;
}

function lastSaid({ session }: Console['chat']): UserEntry {
  // A message of our own, which asks a silent model to go on, has nothing typed.
  const last = userEntries(session).findLast(({ typed }) => typed !== '');
  if (!last) throw wrongUse('Nothing was said yet.');
  return last;
}

const said = ({ line, typed, content }: UserEntry): string => line ?? typed ?? textOf(content);
