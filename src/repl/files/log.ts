import { lstatSync, mkdirSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { appendPrivately } from './private-file.ts';

/** A log file is put aside at this size; two are kept. */
const mostBytes = 1_000_000;

/**
 * Writes to `<state>/chat.log`, with the time before each line; the one before is kept as `chat.log.1`. Logging never
 * fails a chat.
 */
export function openLog(folder: string): (text: string) => void {
  const file = join(folder, 'chat.log');
  return (text) => {
    try {
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      const size = lstatSync(file, { throwIfNoEntry: false })?.size ?? 0;
      if (size > mostBytes) renameSync(file, `${file}.1`);
      const line = `${new Date().toISOString()} ${process.pid} ${text.replaceAll('\n', '\n  ')}\n`;
      appendPrivately(file, line);
    } catch {
      // A full disk or a read-only home: the chat goes on without a log.
    }
  };
}
