import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { History } from '../../src/machine/history/history.ts';
import { openWorkspace } from '../../src/machine/paths/workspace.ts';
import { createProcesses } from '../../src/machine/processes/process.ts';
import { findGit } from '../machine/find-git.ts';

// Takes checkpoints of ever new states until it is killed: take-checkpoints.ts FOLDER STATE
const [folder = '', state = ''] = process.argv.slice(2);
const { checkpoint } = new History({
  state,
  watch: createProcesses('linux').watch,
  git: () => Promise.resolve({ program: findGit(), leading: [], env: { PATH: process.env['PATH'] ?? '' } }),
});
const workspace = await openWorkspace([folder]);
process.stdout.write('begun\n');
for (let n = 0; ; n++) {
  for (let file = 0; file < 50; file++)
    writeFileSync(join(folder, 'many', `${file}.txt`), `${n} ${file}`.repeat(1000));
  await checkpoint.take(folder, 'test', workspace, new AbortController().signal);
}
