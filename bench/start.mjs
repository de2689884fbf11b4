// npm run bench:start: from spawn to an answered tools/list, against `node -e 0` in the same run, in turn.
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { encode } from 'gpt-tokenizer/encoding/o200k_base';
import { median, ms, peakMemory, ratio, startServer } from './measure.mjs';

const runs = Number(process.env.RUNS ?? 25);
const program = fileURLToPath(new URL('../dist/toolcrib.cjs', import.meta.url));
const root = fileURLToPath(new URL('..', import.meta.url));

const bareNode = () =>
  new Promise((resolve) => {
    const startedAt = performance.now();
    spawn(process.execPath, ['-e', '0'], { stdio: 'ignore' }).once('exit', () =>
      resolve(performance.now() - startedAt),
    );
  });

const bareMemory = () =>
  new Promise((resolve) => {
    const child = spawn(process.execPath, ['-e', 'console.log(1);setInterval(()=>{},1000)'], {
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    child.stdout.once('data', () => {
      resolve(peakMemory(child.pid));
      child.kill();
    });
  });

async function serveOnce() {
  const startedAt = performance.now();
  const server = startServer(process.execPath, [program, 'serve', '--root', root]);
  await server.initialize();
  const { result } = await server.ask('tools/list');
  const time = performance.now() - startedAt;
  const memory = peakMemory(server.child.pid);
  await server.stop();
  return { time, memory, tools: result.tools };
}

// The first start keeps the compiled code, as a user's first one does.
const { tools } = await serveOnce();
await new Promise((resolve) => setTimeout(resolve, 600));
const times = { bare: [], serve: [] };
const memory = { bare: [], serve: [] };
for (let run = 0; run < runs; run++) {
  times.bare.push(await bareNode());
  const served = await serveOnce();
  times.serve.push(served.time);
  memory.serve.push(served.memory);
  if (run < 5) memory.bare.push(await bareMemory());
}

const visible = tools.map(({ name, description, inputSchema }) => ({ name, description, inputSchema }));
const tokens = (value) => encode(JSON.stringify(value)).length;
console.log(`Node ${process.version}, ${runs} runs in turn, medians\n`);
console.log(`node -e 0                      ${ms(median(times.bare))}`);
console.log(
  `serve, to tools/list answered  ${ms(median(times.serve))}   ${ratio(median(times.serve), median(times.bare))} (at most 2.0x)`,
);
if (memory.bare[0] !== undefined) {
  console.log(
    `peak memory                    ${median(memory.serve).toFixed(0)} MB   ${ratio(median(memory.serve), median(memory.bare))} (at most 1.7x)`,
  );
}
console.log(`tools                          ${tools.length}`);
console.log(
  `tokens (o200k_base)            ${tokens(visible)} a model sees (name, description, input schema); ${tokens(tools)} with everything`,
);
