import { it } from 'vitest';
import { join } from 'node:path';
import { openWorkspace } from '../../src/machine/workspace.ts';
import { temporaryFolder } from '../filesystem/folder.ts';
it('loop', async () => {
  const root = await temporaryFolder(); const w = await openWorkspace([root]); const seen = new Map<string, number>();
  for (let i = 0; i < 300; i++) await Promise.all(Array.from({ length: 20 }, (_, k) => w.openPlace(`d${i}/q/r/${k}`, { make: true }).then((p) => p.folder.handle.close()).catch((e: Error) => { const m = e.message.replaceAll(root, '').replaceAll(/\d+/g, 'N'); seen.set(m, (seen.get(m) ?? 0) + 1); })));
  console.log(seen);
}, 60000);
