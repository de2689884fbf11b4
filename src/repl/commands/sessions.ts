import { writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { shorten } from '../context/compaction.ts';
import type { ChatOptions } from '../options.ts';
import { wordsOf } from '../session/entry.ts';
import { exportMarkdown, treeLines } from '../session/readable.ts';
import { cleanImages } from '../session/kept-images.ts';
import { searchSessions, type SessionInfo, type SessionStore } from '../session/store.ts';
import { createSession, forkSession, openOrFork, type ChatSession } from '../session/session.ts';
import { printable, cutToCells } from '../terminal/printable.ts';
import type { Terminal } from '../terminal/terminal.ts';
import {
  headAndRest,
  wrongUse,
  type SlashCommands,
  type CommandContext,
  type CommandResult,
} from './command.ts';
import { typedText } from './talk.ts';

export const sessionCommands: SlashCommands = {
  compact: {
    usage: '[WHAT MATTERS]',
    help: 'shortens the conversation to a summary',
    run: ({ chat, showTurn }, focus) =>
      showTurn((signal) => shorten(chat, { signal, why: 'asked', ...(focus !== '' && { focus }) })),
  },
  new: {
    help: 'begins a new session; this one is kept',
    async run({ chat, terminal }) {
      const next = newSession(chat.environment.options, chat.environment.store);
      const { name: _, system: _system, ...state } = chat.session.state;
      next.append({ type: 'set', ...state });
      await chat.useSession(next);
      return terminal.paint.dim('a new session');
    },
  },
  clear: {
    help: 'forgets the conversation in this session; /tree still shows it',
    run({ chat, terminal }) {
      chat.session.moveTo(null);
      return terminal.paint.dim('the conversation begins anew');
    },
  },
  resume: {
    usage: '[NAME | remove NAME]',
    help: 'goes on with another session of this project, by its name or id',
    complete: ({ chat }) => chat.environment.store.list().map(({ id }) => id),
    run: resume,
  },
  name: {
    usage: '[NAME]',
    help: 'shows or changes the name of this session',
    run({ chat }, args) {
      if (args !== '') chat.session.append({ type: 'set', name: args });
      return printable(chat.session.state.name ?? 'It has no name yet.');
    },
  },
  search: {
    usage: '[--all] WORDS',
    help: 'looks through all sessions of this project, or of all projects',
    run({ chat, terminal }, args) {
      const [first, rest] = headAndRest(args);
      const all = first === '--all';
      const { dim, strong } = terminal.paint;
      const { store } = chat.environment;
      const hits = searchSessions(all ? store.listAll() : store.list(), all ? rest : args);
      const lines = hits.map(({ session: { name, modified, id }, role, excerpt }) => {
        const when = dim(`${modified.slice(0, 10)} ${id} ${role}`);
        return `${strong(printable(name))} ${when}\n  ${printable(excerpt)}`;
      });
      return lines.join('\n') || 'Nothing was found.';
    },
  },
  export: {
    usage: '[FILE]',
    help: 'writes the conversation to a file, as Markdown, or shows it',
    run: exportTo,
  },
  clean: {
    help: 'removes attachments that no session uses any more',
    run({ chat }) {
      const { folder, listAll } = chat.environment.store;
      const { removed, bytes } = cleanImages(
        folder,
        listAll().map(({ file }) => file),
      );
      return `${removed} attachments (${bytes} bytes) were removed.`;
    },
  },
  tree: {
    help: 'shows the session with all its branches',
    run: tree,
  },
  branch: {
    usage: 'ID',
    help: 'goes back to a message, to say something else, or to an answer, to go on from there',
    complete: ({ chat }) => treeLines(chat.session).map(({ id }) => id),
    run: branch,
  },
  fork: {
    help: 'goes on in a copy of the session',
    async run({ chat, terminal }) {
      if (!chat.isKept) throw wrongUse('/fork: this session is not kept (--no-session).');
      const fork = forkSession(chat.environment.store.folder, chat.session);
      await chat.useSession(fork);
      return terminal.paint.dim(`a copy of the session: ${fork.id}`);
    },
  },
};

async function resume(context: CommandContext, args: string): Promise<CommandResult> {
  const { chat, terminal } = context;
  const { store } = chat.environment;
  const [, doomed] = /^remove\s+(.+)$/.exec(args) ?? [];
  const wanted = doomed ?? args;
  const info = wanted === '' ? await pickSession(store, terminal, 'none of them') : store.find(wanted);
  if (!info) return;
  if (info.id === chat.session.id) throw wrongUse('That is the session you are in.');
  if (doomed !== undefined) {
    if (await terminal.confirm(`Remove "${printable(info.name)}" for good?`)) store.remove(info);
    return;
  }
  await chat.useSession(resumed(store, info, chat.environment.warn));
  await chat.askModel();
  terminal.print(terminal.paint.dim(`session ${printable(chat.session.state.name ?? info.name)}`));
  showEnd(context);
  await context.finish();
}

function tree({ chat, terminal }: CommandContext): string {
  const { dim, strong } = terminal.paint;
  const lines = treeLines(chat.session).map(({ id, depth, label, current }) => {
    const begin = `${current ? '*' : ' '} ${'  '.repeat(depth)}`;
    const text = cutToCells(label, terminal.width - 2 - begin.length - id.length);
    const shown = chat.session.entry(id)?.type === 'user' ? text : dim(text);
    return `${begin}${dim(id)} ${current ? strong(text) : shown}`;
  });
  return lines.join('\n') || 'Nothing was said yet.';
}

/** Goes to an entry by its id, or the beginning of one. */
function branch({ chat, terminal }: CommandContext, id: string): CommandResult {
  const { session } = chat;
  if (id === '') throw wrongUse('The id of an entry is expected; /tree shows them.');
  const fitting = treeLines(session).filter((line) => line.id.startsWith(id));
  const exact = session.entry(id);
  if (fitting.length > 1 && !exact)
    throw wrongUse(`"${id}" fits ${fitting.length} entries: ${fitting.map((line) => line.id).join(', ')}.`);
  const entry = exact ?? session.entry(fitting[0]?.id ?? '');
  if (!entry) throw wrongUse(`There is no entry "${id}" in this session; /tree shows them.`);
  // Calls that are left without their results would be made again.
  if (entry.type === 'assistant' && entry.message.calls.length > 0)
    throw wrongUse(
      `/branch ${entry.id}: that answer made calls, whose results come after it. Choose a message of yours.`,
    );
  chat.session.moveTo(entry.type === 'user' ? entry.parent : entry.id);
  if (entry.type === 'user') terminal.prefill(typedText(entry));
  else showEnd({ chat, terminal });
}

function exportTo({ chat }: CommandContext, file: string): string {
  const text = exportMarkdown(chat.session);
  if (file === '') return printable(text);
  const path = resolve(chat.environment.options.cwd, file);
  try {
    writeFileSync(path, text, { mode: 0o600, flag: 'wx' });
    return printable(path);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const why = code === 'EEXIST' ? 'is there already; name another file' : `cannot be written (${code})`;
    throw wrongUse(`/export: ${path} ${why}.`);
  }
}

/** The end of what was said before, so that a person knows where they are. */
export function showEnd({ chat, terminal }: Pick<CommandContext, 'chat' | 'terminal'>): void {
  const texts = chat.session.path().flatMap((entry) => {
    const { role, text = '' } = wordsOf(entry) ?? {};
    return role === 'you' ? [`> ${text}`] : role === 'answer' ? [text] : [];
  });
  for (const text of texts.slice(-2)) {
    const lines = printable(text).trim().split('\n');
    const shown = lines.length > 6 ? ['…', ...lines.slice(-6)] : lines;
    if (text.trim() !== '') terminal.print(terminal.paint.dim(shown.join('\n')));
  }
}

const mostShown = 20;

/**
 * The session the command line asks for. Throws ChatError SESSION_UNUSABLE when there is none of that name.
 */
export async function openSession(
  options: ChatOptions,
  store: SessionStore,
  { terminal, warn }: { terminal: Terminal | undefined; warn(text: string): void },
): Promise<ChatSession> {
  const { session: choice } = options;
  if (choice === 'new' || choice === 'none') return newSession(options, store);
  const { which } = choice === 'latest' ? { which: undefined } : choice;
  const picked = which === '' && terminal ? pickSession(store, terminal, 'a new session') : store.list()[0];
  const info = which ? store.find(which) : await picked;
  return info ? resumed(store, info, warn) : newSession(options, store);
}

/** A new session, kept as the command line says. */
const newSession = ({ session, cwd, temporary }: ChatOptions, store: SessionStore): ChatSession =>
  createSession(session === 'none' ? undefined : store.folder, { cwd, ...(temporary && { temporary }) });

/** Opens a session, or a copy of it when another process has it open; says so, and what could not be read. */
function resumed(store: SessionStore, info: SessionInfo, warn: (text: string) => void): ChatSession {
  const session = openOrFork(store.folder, info.file);
  if (session.file !== info.file) warn('That session is open in another window: this is a copy of it.');
  if (session.damaged > 0) warn(`${session.damaged} lines of ${info.file} cannot be read, and are left out.`);
  return session;
}

/** Lets the person pick one of the latest sessions by its number. Undefined: none. */
async function pickSession(
  store: SessionStore,
  terminal: Terminal,
  otherwise: string,
): Promise<SessionInfo | undefined> {
  const sessions = store.list().slice(0, mostShown);
  if (sessions.length === 0) {
    terminal.print('There are no sessions of this project yet.');
    return undefined;
  }
  return terminal.ask<SessionInfo | undefined>({
    above: sessions.map(({ name, modified, id }, at) => {
      const when = `${modified.slice(0, 16).replace('T', ' ')}  ${id}`;
      return `${String(at + 1).padStart(3)}  ${printable(name)}  ${terminal.paint.dim(when)}`;
    }),
    line: `which one? (a number; Enter for ${otherwise})`,
    keys: { '': undefined },
    words(said) {
      const value = sessions[Number(said) - 1];
      return value ? { value } : { problem: `There is no session "${printable(said)}" in this list.` };
    },
  });
}
