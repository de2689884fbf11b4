import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { sessionStore, type Store } from '../../../src/repl/session/store.ts';

export * from './bodies.ts';

/** An empty folder that is gone after the test. */
export function emptyFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'toolcrib-sessions-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }));
  return folder;
}

export const emptyStore = (): Store => sessionStore(join(emptyFolder(), 'chat'), process.cwd());
