// npm run bench:calls: calls against their physical limits, in turn, on a made workspace; then sixteen at once, memory.
// RUNS=51 sets the rounds, ONLY=word picks rows whose name has the word. Above a limit a line is red, the exit code 1.
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rowsOf } from './call-rows.mjs';
import { median, ms, peakMemory, ratio, startServer } from './measure.mjs';
import { makeWorkspace } from './workspace.mjs';

const runs = Number(process.env.RUNS ?? 51);
const only = process.env.ONLY ?? '';
const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const built = here('../dist/toolcrib.cjs');
const reference = createRequire(import.meta.url).resolve(
  '@modelcontextprotocol/server-filesystem/dist/index.js',
);

const folder = makeWorkspace();
writeFileSync(join(folder, 'package.json'), '{"name":"bench","scripts":{"test":"node -e 0"}}\n');
const state = mkdtempSync(join(tmpdir(), 'toolcrib-bench-state-'));
const env = { ...process.env, XDG_STATE_HOME: state, XDG_CONFIG_HOME: join(state, 'config') };
execFileSync(process.execPath, [built, 'trust', folder, '--yes'], { env, stdio: 'ignore' });

const serving = (...options) => [built, 'serve', '--root', folder, '--rule', 'run(true)=allow', ...options];
const servers = {
  ours: startServer(process.execPath, serving('--no-checkpoints'), { env }),
  kept: startServer(process.execPath, serving(), { env }),
  empty: startServer(process.execPath, [here('empty-server.mjs')]),
  peer: startServer(process.execPath, [reference, folder]),
};
const callOf = (server) => async (name, given) => {
  const { result, error } = await server.ask('tools/call', { name, arguments: given });
  if (error || result.isError) throw new Error(`${name}: ${error?.message ?? result.content[0].text}`);
  return result;
};

/** A server of its own, from its start to the answer of a call. */
async function first(which, name, given) {
  const args = which === 'ours' ? serving('--no-checkpoints') : [here('empty-server.mjs')];
  const server = startServer(process.execPath, args, { env });
  await server.initialize();
  await callOf(server)(name, given);
  // Its end is nobody's wait.
  server.child.kill();
}

let isOver = false;
function say(line, over) {
  if (over) isOver = true;
  console.log(over ? `\u001b[31m${line}  OVER\u001b[0m` : line);
}

function print(name, value, limit, base, most, beside = '') {
  const times = `${ms(value).padStart(10)}   ${limit.padEnd(30)} ${ms(base).padStart(10)}`;
  say(`${name.padEnd(24)} ${times}   ${ratio(value, base)} (at most ${most}x)${beside}`, value / base > most);
}

const timed = async (work) => {
  const startedAt = performance.now();
  await work();
  return performance.now() - startedAt;
};

/** Ours and theirs in turn, whichever is first in one round being second in the next; the peer beside them. */
async function measure({ name, limit, most, ours, theirs, peer, prepare, before }) {
  await prepare?.();
  const times = { theirs: [], ours: [], ...(peer && { peer: [] }) };
  const works = { ours, theirs, peer };
  for (let round = -3; round < runs; round++) {
    const names = Object.keys(times);
    for (const who of round % 2 === 0 ? names : names.toReversed()) {
      await before?.();
      const time = await timed(works[who]);
      if (round >= 0) times[who].push(time);
    }
  }
  const [a, b] = [median(times.ours), median(times.theirs)];
  const beside = peer ? `   reference server ${ms(median(times.peer))}: ${ratio(median(times.peer), b)}` : '';
  print(name, a, limit, b, most, beside);
}

/** Sixteen calls at once: at least half as many a second as the floor does. */
async function measureTogether({ name, limit, ours, theirs }) {
  const sixteen = (work) => timed(() => Promise.all(Array.from({ length: 16 }, work)));
  const times = { ours: [], theirs: [] };
  for (let round = -1; round < Math.min(runs, 9); round++)
    for (const [who, work] of Object.entries({ theirs, ours })) {
      const time = await sixteen(work);
      if (round >= 0) times[who].push(time);
    }
  print(`16 x ${name}`, median(times.ours), `16 x ${limit}`, median(times.theirs), 2);
}

/** Peak memory of a server after 2,000 small calls, and of a Node that does nothing. */
async function measureMemory() {
  const bare = spawn(process.execPath, ['-e', 'process.stdin.resume(); console.log(1)'], {
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  await once(bare.stdout, 'data');
  const base = peakMemory(bare.pid);
  bare.stdin.end();
  const server = startServer(process.execPath, serving('--no-checkpoints'), { env });
  await server.initialize();
  const call = callOf(server);
  for (let turn = 0; turn < 1000; turn++) {
    await call('read_file', { path: 'logs/10k.txt', offset: 1 + (turn % 50) });
    await call('list_files', { path: `dir${turn % 200}` });
  }
  const peak = peakMemory(server.child.pid);
  await server.stop();
  const both = `${peak.toFixed(0)} MB   bare Node ${base.toFixed(0)} MB`;
  say(`memory after 2,000 calls ${both}   ${ratio(peak, base)} (at most 2x)`, peak / base > 2);
}

try {
  await Promise.all(Object.values(servers).map((server) => server.initialize()));
  const empty = callOf(servers.empty);
  const rows = rowsOf({
    folder,
    env,
    call: callOf(servers.ours),
    kept: callOf(servers.kept),
    peer: callOf(servers.peer),
    empty: (given = {}) => empty('empty', given),
    first,
  });
  console.log(`Node ${process.version}, ${runs} runs in turn, medians\n`);
  const chosen = rows.filter(({ name }) => name.includes(only));
  for (const row of chosen) await measure(row);
  console.log('');
  for (const row of chosen) if (row.together) await measureTogether(row);
  if ('memory'.includes(only)) await measureMemory();
} finally {
  await Promise.all(Object.values(servers).map((server) => server.stop()));
  for (const path of [folder, state]) rmSync(path, { recursive: true, force: true, maxRetries: 5 });
}
process.exitCode = isOver ? 1 : 0;
