import { rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll } from 'vitest';
import { bundle } from './bundle.ts';
import { startInTerminal } from './pty.ts';
import type { Pty, PtyOptions } from './pty.ts';

/** The small program with a prompt, built before the tests of a file. */
export function terminalProgram() {
  let file = '';
  beforeAll(async () => {
    file = await bundle(fileURLToPath(new URL('../fixtures/terminal-program.ts', import.meta.url)));
  });
  afterAll(() => rmSync(dirname(file), { recursive: true, force: true }));
  const program = {
    argv: (...args: string[]): string[] => [process.execPath, file, ...args],
    /** Starts it and waits for its prompt. */
    async start(options?: PtyOptions, ...args: string[]): Promise<Pty> {
      const pty = startInTerminal(program.argv(...args), options);
      await pty.sees(/ready .*\n>/);
      return pty;
    },
  };
  return program;
}
