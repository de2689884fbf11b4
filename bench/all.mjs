// npm run bench: every benchmark, one after the other, and what each has found at the end. Exits with 1 when one has found
// something above its limit. ONLY=start,day picks some.
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const every = {
  start: 'start.mjs',
  peers: 'peers.mjs',
  calls: 'calls.mjs',
  way: 'way-of-a-call.mjs',
  day: 'day.mjs',
  'first-try': 'first-try.mjs',
  repl: 'repl.mjs',
};
const only = process.env.ONLY?.split(',');
const outcomes = [];
for (const [name, file] of Object.entries(every)) {
  if (only && !only.includes(name)) continue;
  console.log(`\n== bench:${name}\n`);
  const path = fileURLToPath(new URL(file, import.meta.url));
  const { ONLY: _, ...env } = process.env;
  const child = spawn(process.execPath, [path], { env, stdio: 'inherit' });
  const code = await new Promise((resolve) => child.once('exit', resolve));
  outcomes.push([name, code]);
}
console.log();
for (const [name, code] of outcomes)
  console.log(`${name}: ${code === 0 ? 'within its limits' : `exit code ${code}`}`);
process.exitCode = outcomes.every(([, code]) => code === 0) ? 0 : 1;
