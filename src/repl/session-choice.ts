import { ChatError } from './errors.ts';
import type { ChatOptions } from './options.ts';
import { createSession, openOrFork, type Session } from './session/session.ts';
import type { SessionInfo, Store } from './session/store.ts';
import { printable } from './terminal/printable.ts';
import type { Terminal } from './terminal/terminal.ts';

const mostShown = 20;

/** The session the command line asks for. Throws ChatError SESSION_UNUSABLE when there is none of that name. */
export async function openSession(
  options: ChatOptions,
  store: Store,
  { terminal, warn }: { terminal: Terminal | undefined; warn(text: string): void },
): Promise<Session> {
  const { session: choice } = options;
  if (choice.kind === 'new' || choice.kind === 'none') return newSession(options, store);
  const which = choice.kind === 'resume' ? choice.which : undefined;
  const picks = choice.kind === 'resume' && which === undefined && terminal;
  const found = which === undefined ? store.list()[0] : store.find(which);
  const info = picks ? await pickSession(store, terminal, 'a new session') : found;
  if (info) return resumed(store, info, warn);
  if (which === undefined) return newSession(options, store);
  const way = 'toolcrib chat --resume lists them.';
  throw new ChatError('SESSION_UNUSABLE', `There is no session "${which}" in this project; ${way}`);
}

/** A new session, kept as the command line says. */
export const newSession = ({ session, cwd, temporary }: ChatOptions, store: Store): Session =>
  createSession(session.kind === 'none' ? undefined : store.folder, { cwd, ...(temporary && { temporary }) });

/** Opens a session, or a copy of it when another process has it open; says so, and what could not be read. */
export function resumed(store: Store, info: SessionInfo, warn: (text: string) => void): Session {
  const { session, forked } = openOrFork(store.folder, info.file);
  if (forked) warn('That session is open in another window: this is a copy of it.');
  if (session.damaged > 0) warn(`${session.damaged} lines of ${info.file} cannot be read, and are left out.`);
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
