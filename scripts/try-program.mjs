// `npm run try-program just`: what its actions write, whether it is found here, and how to call one.
import { execFileSync, spawnSync } from 'node:child_process';

const [id, action, ...given] = process.argv.slice(2);
const crib = 'dist/toolcrib.cjs';
if (id === undefined) {
  console.error('npm run try-program PROGRAM [ACTION [key=value…]]');
  process.exit(2);
}
if (action !== undefined) {
  const { status } = spawnSync(process.execPath, [crib, 'call', `${id}_${action}`, ...given], {
    stdio: 'inherit',
  });
  process.exit(status ?? 1);
}
spawnSync(process.execPath, [crib, 'doctor', id], { stdio: 'inherit' });
execFileSync(
  'npx',
  ['vitest', 'run', '--project', 'quick', '-t', `'${id}_`, 'test/discoverers/laws.test.ts'],
  {
    stdio: 'inherit',
  },
);
console.log(`Next: npm run try-program ${id} ACTION key=value`);
