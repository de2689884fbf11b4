import { ChatError } from './errors.ts';
import type { ChatOptions } from './options.ts';
import { askNow } from './person/person.ts';
import { createSession, openOrFork } from './session/open-session.ts';
import type { Session } from './session/session.ts';
import type { SessionInfo, Store } from './session/store.ts';
import { printable } from './terminal/printable.ts';
import type { Terminal } from './terminal/terminal.ts';

const mostShown = 20;

/** The session the command line asks for. Throws ChatError SESSION_UNUSABLE when there is none of that name. */
export async function openSession(
  options: ChatOptions,
  store: Store,
  terminal: Terminal | undefined,
): Promise<Session> {
  const { session: choice } = options;
  const which = choice.kind === 'resume' ? choice.which : undefined;
  const picks = choice.kind === 'resume' && which === undefined && terminal;
  if (choice.kind === 'new' || choice.kind === 'none') return newSession(options, store);
  const found = which === undefined ? store.latest() : store.find(which);
  const info = picks ? await pickSession(store, terminal, 'a new session') : found;
  if (info) return resumed(store, info, (text) => terminal?.print(terminal.paint.warning(text)));
  if (which === undefined) return newSession(options, store);
  const way = 'toolcrib chat --resume lists them.';
  throw new ChatError('SESSION_UNUSABLE', `There is no session "${which}" in this project; ${way}`);
}

/** A new session, kept as the command line says. */
export const newSession = ({ session, cwd, temporary }: ChatOptions, store: Store): Session =>
  createSession(session.kind === 'none' ? undefined : store.folder, { cwd, ...(temporary && { temporary }) });

/** Opens a session, or a copy of it when another process has it open. */
export function resumed(store: Store, info: SessionInfo, warn: (text: string) => void): Session {
  const { session, forked } = openOrFork(store.folder, info.file);
  if (forked) warn('! That session is open in another window: this is a copy of it.');
  return session;
}

/** Lets the person pick one of the latest sessions by its number. Undefined: none. */
export async function pickSession(
  store: Store,
  terminal: Terminal,
  otherwise: string,
): Promise<SessionInfo | undefined> {
  const sessions = store.list().slice(0, mostShown);
  if (sessions.length === 0) {
    terminal.print('There are no sessions of this project yet.');
    return undefined;
  }
  const { dim } = terminal.paint;
  return askNow<SessionInfo | undefined>(terminal, {
    above: sessions.map(({ name, modified, id }, at) => {
      const when = `${modified.slice(0, 16).replace('T', ' ')}  ${id.slice(0, 8)}`;
      return `${String(at + 1).padStart(3)}  ${printable(name)}  ${dim(when)}`;
    }),
    line: `which one? (a number; Enter for ${otherwise})`,
    keys: { '': undefined },
    words(said) {
      // A number is one of the list, and not the beginning of some id.
      const value = /^\d{1,3}$/.test(said) ? sessions[Number(said) - 1] : store.find(said);
      return value ? { value } : { problem: `There is no session "${printable(said)}" in this list.` };
    },
  });
}
