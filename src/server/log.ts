import { sanitize } from '../machine/sanitize.ts';

/**
 * Writes one line to standard error, a server's log: nothing in it commands a terminal or passes for another
 * line.
 */
export const log = (said: unknown): void => {
  const text = said instanceof Error ? said.message : String(said);
  process.stderr.write(`toolcrib: ${sanitize(text).replaceAll(/\s+/g, ' ')}\n`);
};
