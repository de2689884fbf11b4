// npm run test:nodes: what depends on undocumented parts of Node (readline's insides, flags of V8, see
// src/repl/terminal/readline-internals.ts and src/store/v8-flags.ts) with the built program, under every Node that it
// is made for. A Node that cannot be fetched is left out, and named.
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const versions = process.argv.length > 2 ? process.argv.slice(2) : ['20', '22', '24', '26'];
const files = [
  'test/store/v8-flags',
  'test/repl/terminal/readline-internals',
  'test/repl/chat/plain-readline',
  'test/repl/chat/line-editor',
  'test/repl/attacks/typing',
];
const vitest = fileURLToPath(new URL('../node_modules/vitest/vitest.mjs', import.meta.url));
const leftOut = [];
const failed = [];

for (const version of versions) {
  const node = pathOf(version);
  if (node === undefined) {
    leftOut.push(version);
    continue;
  }
  console.log(`\nNode ${version}: ${node}`);
  const args = [vitest, 'run', '--project', 'quick', '--project', 'slow', ...files];
  if (spawnSync(node, args, { stdio: 'inherit' }).status !== 0) failed.push(version);
}

if (leftOut.length > 0) console.log(`left out, as it cannot be fetched: Node ${leftOut.join(', ')}`);
if (failed.length > 0) console.error(`failed under Node ${failed.join(', ')}`);
process.exitCode = failed.length > 0 ? 1 : 0;

/** The path of a Node of that major, which npx fetches once; undefined where it cannot. */
function pathOf(version) {
  const words = ['--yes', '-p', `node@${version}`, 'node', '-p', 'process.execPath + " " + process.version'];
  const { stdout, status } = spawnSync('npx', words, {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const [, path, major] = /^(.+) v(\d+)\./m.exec(stdout ?? '') ?? [];
  return status === 0 && major === version ? path : undefined;
}
