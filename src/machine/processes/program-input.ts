import type { Writable } from 'node:stream';
import type { ProgramInput } from '../../core/tool.ts';

/** As much as may wait to be read by a program, bytes. */
const mostWaiting = 1024 * 1024;

/** The input of a program that runs, open until it is ended or the program is. */
export function programInput(stdin: Writable): ProgramInput {
  // EPIPE: the program has ended, or closed its input.
  stdin.on('error', () => stdin.destroy());
  return {
    write(text) {
      if (!stdin.writable || stdin.writableLength + text.length > mostWaiting) return false;
      stdin.write(text);
      return true;
    },
    end: () => void stdin.end(),
  };
}
