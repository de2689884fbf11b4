import { setMaxListeners } from 'node:events';
import { createProcesses } from '../../../src/machine/processes/process.ts';

/** Runs a script several times at once, stops them on a line of input, and reports how they ended. */
const [, , times = '1', ...argv] = process.argv;
const stop = new AbortController();
setMaxListeners(0, stop.signal);
const processes = createProcesses(process.platform as 'linux');
process.stdin.once('data', () => stop.abort());
void Promise.all(
  Array.from({ length: Number(times) }, () =>
    processes.run({
      program: '/bin/sh',
      argv,
      cwd: '/',
      env: { PATH: '/usr/bin:/bin' },
      signal: stop.signal,
      lasts: true,
      sink: {
        handle: '',
        add: (_stream, chunk) => {
          process.stdout.write(chunk);
        },
        end: () => {},
      },
    }),
  ),
).then((outcomes) => {
  for (const { ended, stderr } of outcomes) process.stdout.write(`${ended} ${stderr.text}\n`);
  process.exit();
});
