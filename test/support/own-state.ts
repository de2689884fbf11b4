import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';

// Journals and checkpoints of tests are none of the person's who runs them.
const folder = mkdtempSync(join(tmpdir(), 'toolcrib-state-'));
process.env['XDG_STATE_HOME'] = folder;
afterAll(() => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }));
