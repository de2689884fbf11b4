import { History } from '../../src/machine/history/history.ts';
import { openWorkspace } from '../../src/machine/paths/workspace.ts';
import { createProcesses } from '../../src/machine/processes/process.ts';
import { findGit } from '../machine/find-git.ts';

// Takes checkpoints and changes files, all at once: many-changes.ts FOLDER STATE TIMES. A line for each, what came of it.
const [folder = '', state = '', times = ''] = process.argv.slice(2);
const git = { program: findGit(), leading: [], env: { PATH: process.env['PATH'] ?? '' } };
const { run, watch } = createProcesses('linux');
const history = new History({ state, watch, git: () => Promise.resolve(git) });
const workspace = await openWorkspace([folder]);

async function change(number: number): Promise<string> {
  const place = await workspace.openPlace(`${number}.txt`);
  try {
    await history.write(place, () => ({ bytes: Buffer.from(`${number}`) }), { kind: 'write' });
    return 'changed';
  } finally {
    await place.folder.handle.close();
  }
}
const { signal } = new AbortController();
const take = async () => {
  const taken = await history.checkpoint.take(folder, 'x', workspace, signal);
  taken?.ended();
  return taken?.isKept ? 'kept' : 'not kept';
};
const told = (calling: Promise<string>) =>
  calling.catch((error: Error & { code?: string }) => `${error.code}`);
const sleep = () => run({ program: '/bin/sleep', argv: ['1'], cwd: '/', env: {} });
const others = Promise.all(Array.from({ length: 12 }, sleep));
const all = Array.from({ length: Number(times) }, (_, number) => [told(take()), told(change(number))]);
for (const line of await Promise.all(all.flat())) console.log(line);
await others;
console.log(`then ${await told(take())}`);
