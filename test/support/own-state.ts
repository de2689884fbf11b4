import { chmodSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';

// Temporary files, journals and checkpoints of a file of tests are its own: none of another's, and none of the person's who runs them.
const folder = mkdtempSync(join(tmpdir(), 'toolcrib-'));
const [temporary, state] = [join(folder, 'tmp'), join(folder, 'state')];
for (const path of [temporary, state]) mkdirSync(path);
// As everybody's: tests look at what others may write to.
for (const path of [folder, temporary]) chmodSync(path, 0o1777);
process.env['TMPDIR'] = temporary;
process.env['XDG_STATE_HOME'] = state;
afterAll(() => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }));
