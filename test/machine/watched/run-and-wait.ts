import { createProcesses } from '../../../src/machine/processes/process.ts';

/** A server as far as programs are concerned: runs one, and reports when it has printed something. */
const [, , folder = '/', ...argv] = process.argv;
void createProcesses(process.platform as 'linux').run({
  program: '/bin/sh',
  argv,
  cwd: folder,
  env: { PATH: '/usr/bin:/bin' },
  lasts: process.env['LASTS'] === 'yes',
  onLine: (line) => process.stdout.write(`${line}\n`),
});
