import { join } from 'node:path';
import { ChatError } from '../errors.ts';
import { readSessionText } from '../files/private-file.ts';
import { parseEntry, parseHeader, type SessionHeader } from './entry.ts';
import { takeLock } from './lock.ts';
import { newId, Session } from './session.ts';
import { SessionFile } from './session-file.ts';
import { noResult, unfinishedCalls } from './unfinished.ts';

/** A new session, whose file is made in a folder; without a folder it is kept nowhere. */
export function createSession(
  folder: string | undefined,
  more: Pick<SessionHeader, 'cwd' | 'temporary' | 'parent'>,
): Session {
  const created = new Date().toISOString();
  const id = newId();
  const name = `${created.replaceAll(/[:.]/g, '-')}_${id}.jsonl`;
  const header: SessionHeader = { v: 1, type: 'session', id, created, ...more };
  return new Session(header, folder === undefined ? undefined : join(folder, name));
}

/** A session as it is now, whoever has it open. Throws SESSION_UNUSABLE for what is no session of this version. */
function readSession(file: string): Session {
  const [first = '', ...lines] = readSessionText(file).split('\n');
  if (first === '') throw unusable(file, 'is empty');
  const header = parseHeader(first);
  if (header === undefined) throw unusable(file, 'is no session, or its first line is damaged');
  if (typeof header === 'number') throw unusable(file, `was written by another version (${header})`);
  const session = new Session(header);
  for (const line of lines) {
    const entry = parseEntry(line);
    if (entry) session.take(entry);
  }
  return session;
}

export const unusable = (path: string, why: string): ChatError =>
  new ChatError('SESSION_UNUSABLE', `${path} cannot be used: it ${why}.`);

/** Opens a session to go on with it; a copy when another process has it open. Throws SESSION_UNUSABLE. */
export function openOrFork(folder: string, file: string): { session: Session; forked: boolean } {
  readSessionText(file, 1); // Throws for what is no file of ours, before a lock is put beside it.
  const release = takeLock(file);
  try {
    // Read after the lock was taken, so that nothing is appended in between.
    const session = readSession(file);
    if (!release) return { session: copyElsewhere(folder, session), forked: true };
    session.keepIn(new SessionFile(file, release));
    return { session, forked: false };
  } catch (error) {
    release?.();
    throw error;
  }
}

/** A new session that begins with the path to an entry, or to the leaf, and all that was set. */
export function forkSession(folder: string, session: Session, at?: string | null): Session {
  const { cwd, temporary } = session.header;
  const copy = createSession(folder, { cwd, parent: session.id, ...(temporary && { temporary }) });
  copy.begin([...session.set, ...session.path(at)]);
  return copy;
}

/** Its open calls are asked about, or still run, in the other window. */
function copyElsewhere(folder: string, session: Session): Session {
  const copy = forkSession(folder, session);
  const unknown = { state: 'done', text: noResult, isError: true } as const;
  for (const { call } of unfinishedCalls(copy.path()))
    copy.append({ type: 'tool', callId: call.id, name: call.name, ...unknown });
  return copy;
}
