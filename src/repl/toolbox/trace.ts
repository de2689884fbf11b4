import { ChatError } from '../errors.ts';
import { appendPrivately } from '../files/private-file.ts';

/** Told of every message, as it is on the wire. */
export type Trace = (direction: 'out' | 'in', server: string, message: unknown) => void;

/**
 * Appends every message to a file, one JSON line each, readable by its owner only. Written at once, so that a crash
 * loses nothing. Throws USAGE when the file cannot be written.
 */
export function traceTo(path: string): Trace {
  try {
    appendPrivately(path, '');
  } catch (error) {
    throw new ChatError('USAGE', `The trace ${path} cannot be written.`, { cause: error });
  }
  return (direction, server, message) => {
    try {
      const line = { ts: new Date().toISOString(), server, direction, message };
      appendPrivately(path, `${JSON.stringify(line)}\n`);
    } catch {
      // No room left: what is traced matters more than its trace.
    }
  };
}
