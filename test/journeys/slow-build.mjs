// A build that takes as long as it is told to: `node slow-build.mjs FOLDER`. It notes each run of it in FOLDER/runs and
// its process in FOLDER/pid, prints a line now and then, and ends when there is a file FOLDER/go.
import { appendFileSync, existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const [folder] = process.argv.slice(2);
appendFileSync(join(folder, 'runs'), 'run\n');
writeFileSync(join(folder, 'pid'), String(process.pid));
let step = 0;
const timer = setInterval(() => {
  step += 1;
  if (step % 20 === 1) console.log(`step ${step} of the build`);
  if (!existsSync(join(folder, 'go'))) return;
  clearInterval(timer);
  console.log('built all of it');
}, 50);
