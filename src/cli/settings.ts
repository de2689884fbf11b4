import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type * as Schemas from '../repl/config/schemas.ts';
import { ownCache } from '../server/first-answers.ts';
import { requireCompiled } from './compiled.ts';

// In the built program this stands for `schemas.ts`: the same, loaded with the code that was compiled the last time.
const cache = ownCache();
export const { chatFile, mcpFile, mcpServer, profile, yaml } = requireCompiled(
  join(dirname(fileURLToPath(import.meta.url)), 'settings.cjs'),
  { folder: cache && join(cache, 'code'), use: 'chat' },
) as typeof Schemas;
