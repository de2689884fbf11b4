// npm run bench:start: from spawn to what a host waits for, against `node -e 0` in the same run, in turn. Exits with 1
// when something takes longer than its limit. RUNS=25 sets the rounds, NODES=/path/to/node,… measures other Nodes too.
import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { encode } from 'gpt-tokenizer/encoding/o200k_base';
import { median, ms, peakMemory, ratio, startServer } from './measure.mjs';

const runs = Number(process.env.RUNS ?? 25);
const program = process.env.PROGRAM ?? fileURLToPath(new URL('../dist/toolcrib.cjs', import.meta.url));
const home = mkdtempSync(join(tmpdir(), 'toolcrib-start-'));
writeFileSync(join(home, 'a.txt'), 'hello');
for (const name of ['CONFIG', 'STATE', 'CACHE']) process.env[`XDG_${name}_HOME`] = join(home, name);
// A shell that takes its time would be measured instead, where nothing is cached.
process.env.SHELL = '/nowhere';

const after = (startedAt) => performance.now() - startedAt;
const exit = (child) => new Promise((resolve) => child.once('exit', resolve));

async function bareNode(node) {
  const startedAt = performance.now();
  await exit(spawn(node, ['-e', '0'], { stdio: 'ignore' }));
  return after(startedAt);
}

async function bareMemory(node) {
  const child = spawn(node, ['-e', 'console.log(1);setInterval(()=>{},1000)'], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  await new Promise((resolve) => child.stdout.once('data', resolve));
  const memory = peakMemory(child.pid);
  child.kill();
  return memory;
}

async function chatHelp(node) {
  const startedAt = performance.now();
  await exit(spawn(node, [program, 'chat', '--help'], { stdio: 'ignore' }));
  return after(startedAt);
}

/** A host's session: it lists at once, and calls at once, which is the worst case. `stays` ms are waited at its end. */
async function session(node, stays = 0) {
  const startedAt = performance.now();
  const server = startServer(node, [program, 'serve', '--root', home]);
  await server.initialize();
  const { result } = await server.ask('tools/list', {});
  const [list, memory] = [after(startedAt), peakMemory(server.child.pid)];
  await server.ask('tools/call', { name: 'read_file', arguments: { path: 'a.txt' } });
  const call = after(startedAt);
  await new Promise((resolve) => setTimeout(resolve, stays));
  await server.stop();
  return { list, memory, call, tools: result.tools };
}

let isOver = false;
function report(name, value, base, most, show = ms) {
  const over = value / base > most;
  isOver ||= over;
  const line = `${name.padEnd(34)} ${show(value).padEnd(10)} ${ratio(value, base)} (at most ${most}x)`;
  console.log(over ? `\u001b[31m${line}  OVER\u001b[0m` : line);
}

async function measure(node) {
  const times = { bare: [], list: [], call: [], cold: [], help: [] };
  const memory = { bare: [], list: [] };
  const forget = () => rmSync(join(home, 'CACHE'), { recursive: true, force: true });
  for (let run = 0; run < Math.ceil(runs / 3); run++) {
    forget();
    times.cold.push((await session(node)).list);
  }
  // The first keeps what the server compiles to list, and its answers; the second what it compiles to call.
  forget();
  let tools;
  for (let run = 0; run < 3; run++) ({ tools } = await session(node, 2500));
  for (let run = 0; run < runs; run++) {
    times.bare.push(await bareNode(node));
    const served = await session(node);
    times.list.push(served.list);
    times.call.push(served.call);
    memory.list.push(served.memory);
    times.help.push(await chatHelp(node));
    if (run < 5) memory.bare.push(await bareMemory(node));
  }
  const version = spawnSync(node, ['--version'], { encoding: 'utf8' }).stdout.trim();
  const bare = median(times.bare);
  console.log(`Node ${version}, ${runs} runs in turn, medians\n`);
  console.log(`${'node -e 0'.padEnd(34)} ${ms(bare)}`);
  report('serve, to tools/list answered', median(times.list), bare, 1.4);
  report('serve, to the first call answered', median(times.call), bare, 5);
  report('the very first start, to the list', median(times.cold), bare, 7);
  report('toolcrib chat --help', median(times.help), bare, 1.8);
  if (memory.bare[0] !== undefined) {
    const megabytes = (value) => `${value.toFixed(0)} MB`;
    report('peak memory until the first call', median(memory.list), median(memory.bare), 1.2, megabytes);
  }
  console.log();
  return tools;
}

try {
  let tools;
  for (const node of [process.execPath, ...(process.env.NODES?.split(',') ?? [])])
    tools = await measure(node);
  const visible = tools.map(({ name, description, inputSchema }) => ({ name, description, inputSchema }));
  const tokens = (value) => encode(JSON.stringify(value)).length;
  console.log(
    `${tools.length} tools: ${tokens(visible)} tokens (o200k_base) of name, description and input schema, ` +
      `which a model sees; ${tokens(tools)} with everything`,
  );
} finally {
  rmSync(home, { recursive: true, force: true });
}
process.exitCode = isOver ? 1 : 0;
