import { closeSync, writeSync } from 'node:fs';
import { ChatError } from '../errors.ts';
import { openToAppend } from '../files/private-file.ts';

/** Told of every message, as it is on the wire. */
export type Trace = (direction: 'out' | 'in', server: string, message: unknown) => void;

/**
 * Appends every message to a file, one JSON line each, readable by its owner only. Written at once, so that a crash
 * loses nothing. Throws USAGE when the file cannot be opened; a disk that fills up later ends the trace, not the
 * session.
 */
export function traceTo(path: string): Trace {
  const file = opened(path);
  let open = true;
  return (direction, server, message) => {
    if (!open) return;
    try {
      writeSync(file, `${JSON.stringify({ ts: new Date().toISOString(), server, direction, message })}\n`);
    } catch {
      // No room left: what is traced matters more than its trace.
      open = false;
      closeSync(file);
    }
  };
}

function opened(path: string): number {
  try {
    return openToAppend(path);
  } catch (error) {
    throw new ChatError('USAGE', `The trace ${path} cannot be written.`, { cause: error });
  }
}
