// A program that changes files. Arguments: state folder, root, and how often to count up shared.txt; without the last
// it changes several files without end, to be killed while it does.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ToolcribError } from '../../src/core/errors.ts';
import { History } from '../../src/machine/history/history.ts';
import { openWorkspace } from '../../src/machine/paths/workspace.ts';
import { createProcesses } from '../../src/machine/processes/process.ts';
import { nextVersion } from './version.ts';

const [state = '', root = '', times] = process.argv.slice(2);
const { watch } = createProcesses('linux');
const changes = new History({ state, watch, git: () => Promise.resolve(undefined), mostChanges: 1e6 });
const workspace = await openWorkspace([root]);

async function at<T>(
  path: string,
  work: (place: Awaited<ReturnType<typeof workspace.openPlace>>) => Promise<T>,
) {
  const place = await workspace.openPlace(path, { make: true, follow: false });
  try {
    return await work(place);
  } finally {
    await place.folder.handle.close();
  }
}

/** Another process may have been at it in the same moment. */
async function count(): Promise<void> {
  const next = (before?: { bytes: Buffer }) => ({ bytes: nextVersion(before?.bytes) });
  const counting = at('shared.txt', (place) => changes.write(place, next, { kind: 'edit' }));
  const isStale = await counting.then(
    () => false,
    (error: unknown) => {
      if (error instanceof ToolcribError && error.code === 'STALE_FILE') return true;
      throw error;
    },
  );
  if (isStale) await count();
}

for (let time = 0; time < Number(times ?? 1); time++) await count();
process.stdout.write('ready\n');
for (let turn = 0; times === undefined; turn++) {
  await count();
  const name = `${process.pid}-${turn}`;
  await at(`new-${name}`, (place) =>
    changes.write(place, () => ({ bytes: Buffer.from(name) }), { kind: 'write' }),
  );
  await at(`new-${name}`, (from) =>
    at(`deep-${name}/moved`, (to) => changes.move(from, to, { kind: 'move' })),
  );
  await count();
  mkdirSync(join(root, `folder-${name}`));
  writeFileSync(join(root, `folder-${name}`, 'a.txt'), 'a');
  await at(`folder-${name}`, (place) => changes.remove(place, { kind: 'delete' }));
  await at(`deep-${name}/moved`, (place) => changes.remove(place, { kind: 'delete' }));
}
