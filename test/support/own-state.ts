import { chmodSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';

// Temporary files, journals, checkpoints and caches of a file of tests are its own: none of another's, and none of the person's who runs them.
const folder = mkdtempSync(join(tmpdir(), 'toolcrib-'));
const [temporary, state, cache] = [join(folder, 'tmp'), join(folder, 'state'), join(folder, 'cache')];
for (const path of [temporary, state, cache]) mkdirSync(path);
// As everybody's: tests look at what others may write to.
for (const path of [folder, temporary]) chmodSync(path, 0o1777);
process.env['TMPDIR'] = temporary;
process.env['XDG_STATE_HOME'] = state;
process.env['XDG_CACHE_HOME'] = cache;
// A program that has just got its signal to end may still write.
afterAll(() => rmSync(folder, { recursive: true, force: true, maxRetries: 20 }));
