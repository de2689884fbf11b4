import { ChatError } from './errors.ts';
import type { ChatOptions } from './options.ts';
import { createSession, memorySession, type Session } from './session/session.ts';
import { openOrFork } from './session/fork.ts';
import type { SessionInfo, Store } from './session/store.ts';
import { printable } from './terminal/printable.ts';
import type { Terminal } from './terminal/terminal.ts';

const mostShown = 20;

/** The session the command line asks for. Throws ChatError SESSION_UNUSABLE when there is none of that name. */
export async function openSession(
  { session: choice, cwd, temporary }: ChatOptions,
  store: Store,
  terminal: Terminal | undefined,
): Promise<Session> {
  if (choice.kind === 'none') return memorySession(cwd);
  const info = choice.kind === 'new' ? undefined : await infoFor(choice, store, terminal);
  if (!info) return createSession(store, { cwd, ...(temporary ? { temporary } : {}) });
  return resumed(store, info, (text) => terminal?.print(terminal.paint.warning(text)));
}

/** Opens a session, or a copy of it when another process has it open. */
export function resumed(store: Store, info: SessionInfo, warn: (text: string) => void): Session {
  const { session, forked } = openOrFork(store, info.file);
  if (forked) warn('! That session is open in another window: this is a copy of it.');
  return session;
}

type Wanted = Exclude<ChatOptions['session'], { kind: 'new' } | { kind: 'none' }>;

async function infoFor(
  choice: Wanted,
  store: Store,
  terminal: Terminal | undefined,
): Promise<SessionInfo | undefined> {
  if (choice.kind === 'latest') return store.latest();
  if (choice.which === undefined) return terminal ? pickSession(store, terminal) : store.latest();
  const found = store.find(choice.which);
  if (!found)
    throw new ChatError(
      'SESSION_UNUSABLE',
      `There is no session "${choice.which}" in this project; toolcrib chat --resume lists them.`,
    );
  return found;
}

/** Lets the person pick one of the latest sessions by its number. Undefined: none. */
export async function pickSession(
  store: Store,
  terminal: Terminal,
  otherwise = 'a new session',
): Promise<SessionInfo | undefined> {
  const sessions = store.list().slice(0, mostShown);
  if (sessions.length === 0) {
    terminal.print('There are no sessions of this project yet.');
    return undefined;
  }
  for (const [at, info] of sessions.entries()) {
    const { dim } = terminal.paint;
    terminal.print(
      `${String(at + 1).padStart(3)}  ${printable(info.name)}  ${dim(`${info.modified.slice(0, 16).replace('T', ' ')}  ${info.id.slice(0, 8)}`)}`,
    );
  }
  for (;;) {
    const said = (await terminal.ask(`which one? (a number; Enter for ${otherwise})`))?.trim();
    if (!said) return undefined;
    // A number is one of the list, and not the beginning of some id.
    const found = /^\d{1,3}$/.test(said) ? sessions[Number(said) - 1] : store.find(said);
    if (found) return found;
    terminal.print(terminal.paint.bad(`There is no session "${printable(said)}" in this list.`));
  }
}
