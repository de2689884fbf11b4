// npm run bench:repl: `toolcrib chat` in a real pseudo-terminal, against `node -e 0` in the same run, in turn.
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { createHash } from 'node:crypto';
import { createServer } from 'node:http';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import pty from '@lydell/node-pty';
import { median, ms, peakMemory, ratio } from './measure.mjs';

const runs = Number(process.env.RUNS ?? 25);
const program = fileURLToPath(new URL('../dist/toolcrib.cjs', import.meta.url));
const folder = realpathSync(mkdtempSync(join(tmpdir(), 'toolcrib-bench-')));
const cwd = join(folder, 'project');
const config = join(folder, 'config', 'toolcrib');
for (const path of [cwd, config]) mkdirSync(path, { recursive: true });

const model = await startModel();
writeFileSync(
  join(config, 'chat.yaml'),
  `endpoints:\n  bench: { wire: chat, baseUrl: "${model.url}", local: true }\nmodel: bench/model\n`,
);
const env = {
  ...process.env,
  HOME: folder,
  TERM: 'xterm-256color',
  XDG_CONFIG_HOME: join(folder, 'config'),
  XDG_STATE_HOME: join(folder, 'state'),
};

const bareNode = () =>
  new Promise((resolve) => {
    const startedAt = performance.now();
    spawn(process.execPath, ['-e', '0'], { stdio: 'ignore' }).once('exit', () =>
      resolve(performance.now() - startedAt),
    );
  });

/** The REPL in a terminal; `sees` resolves with the time at which a text had arrived. */
function open(args = []) {
  const startedAt = performance.now();
  const terminal = pty.spawn(process.execPath, [program, 'chat', ...args], { cwd, env, cols: 100, rows: 40 });
  let output = '';
  let from = 0;
  let waiting = [];
  terminal.onData((data) => {
    output += data;
    const at = performance.now();
    const hasCome = ({ text }) => output.includes(text, from);
    for (const { resolve } of waiting.filter(hasCome)) resolve(at);
    waiting = waiting.filter((one) => !hasCome(one));
  });
  return {
    startedAt,
    pid: terminal.pid,
    type: (text) => terminal.write(text),
    output: () => output,
    /** What has been shown until now does not count any more. */
    mark: () => {
      from = output.length;
    },
    sees: (text) =>
      new Promise((resolve) => {
        if (output.includes(text, from)) resolve(performance.now());
        else waiting.push({ text, resolve });
      }),
    leave: () =>
      new Promise((resolve) => {
        terminal.onExit(resolve);
        terminal.write('/exit\r');
      }),
  };
}

async function start(args) {
  const chat = open(args);
  const time = (await chat.sees('> ')) - chat.startedAt;
  await chat.leave();
  return time;
}

// The first start keeps the compiled code, as a user's first one does.
await start();
const times = { bare: [], prompt: [] };
for (let run = 0; run < runs; run++) {
  times.bare.push(await bareNode());
  times.prompt.push(await start());
}

const chat = open();
await chat.sees('> ');
const first = [];
for (let run = 0; run < runs + 1; run++) {
  const word = `word${run}x`;
  chat.mark();
  const seen = chat.sees(word);
  model.next = { text: `${word} and more\n` };
  chat.type('go\r');
  const at = await seen;
  await chat.sees(' out ');
  await chat.sees('> ');
  // The first answer compiles what the others use.
  if (run > 0) first.push(at - model.sentAt);
}
chat.mark();
const before = chat.output().length;
model.next = { text: markdown(200_000), delta: 40 };
const streamedAt = performance.now();
chat.type('long\r');
await chat.sees('the very end');
const streamed = performance.now() - streamedAt;
// Between its first and its last words: before them a spinner may stand in a line of its own.
const shown = chat.output().slice(before);
const text = shown.slice(shown.indexOf('A heading'), shown.indexOf('the very end'));
const moves = text.match(/\x1b\[\d*[A-HJKSTfsu]|\r(?!\n)/g) ?? [];
const memory = peakMemory(chat.pid);
await chat.leave();

writeSession(10_000);
const resumed = [];
for (let run = 0; run < Math.min(runs, 9); run++) resumed.push(await start(['--continue']));

console.log(`Node ${process.version}, ${runs} runs in turn, medians\n`);
console.log(`node -e 0                               ${ms(median(times.bare))}`);
console.log(
  `chat, to its prompt                     ${ms(median(times.prompt))}   ${ratio(median(times.prompt), median(times.bare))} (at most 3x)`,
);
console.log(
  `first byte of an answer, to the screen  ${ms(median(first))} (at most 5 ms), the slowest ${ms(Math.max(...first))}`,
);
console.log(
  `200 KB of Markdown                      ${ms(streamed)}, the cursor moved or something drawn again ${moves.length} times`,
);
console.log(
  `resuming 10,000 entries, to the prompt  ${ms(median(resumed))}, ${ms(median(resumed) - median(times.prompt))} more than without (at most 300 ms)`,
);
if (memory !== undefined) console.log(`peak memory                             ${memory.toFixed(0)} MB`);
model.server.close();
rmSync(folder, { recursive: true, force: true });
process.exit(0);

/** A model that says `next` in one stream, and when it sent the first of it. */
async function startModel() {
  const state = { next: { text: 'ok' }, sentAt: 0, url: '', server: undefined };
  state.server = createServer(async (request, response) => {
    for await (const _ of request);
    const { text, delta = text.length } = state.next;
    const chunk = (part, finish = null) =>
      response.write(
        `data: ${JSON.stringify({ id: '1', object: 'chat.completion.chunk', created: 1, model: 'model', choices: [{ index: 0, delta: part, finish_reason: finish }] })}\n\n`,
      );
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    chunk({ role: 'assistant', content: '' });
    // Headers and body apart, so that the time is that of the text.
    await new Promise((resolve) => setTimeout(resolve, 30));
    state.sentAt = performance.now();
    for (let at = 0; at < text.length; at += delta) chunk({ content: text.slice(at, at + delta) });
    chunk({}, 'stop');
    response.end('data: [DONE]\n\n');
  });
  state.server.listen(0, '127.0.0.1');
  await once(state.server, 'listening');
  state.url = `http://127.0.0.1:${state.server.address().port}/v1`;
  return state;
}

function markdown(bytes) {
  const part =
    '## A heading\n\nSome **bold** and `code` and a [link](https://example.org), and a line that goes on for a while so that it wraps.\n\n- one\n- two\n\n```js\nconst a = 1;\n```\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n';
  return `${part.repeat(Math.ceil(bytes / part.length))}\nthe very end\n`;
}

function writeSession(entries) {
  const slug = `${'project'}-${createHash('sha256').update(cwd).digest('hex').slice(0, 8)}`;
  const path = join(folder, 'state', 'toolcrib', 'chat', 'sessions', slug);
  mkdirSync(path, { recursive: true, mode: 0o700 });
  const created = new Date().toISOString();
  const lines = [{ v: 1, type: 'session', id: 'bench', cwd, created }];
  let parent = null;
  for (let at = 0; at < entries; at++) {
    const id = `e${at}`;
    const usage = { input: 1, output: 1, cacheRead: 0, cacheWrite: 0, estimated: false };
    const text = `message ${at} ${'of some length '.repeat(20)}`;
    lines.push(
      at % 2 === 0
        ? { type: 'user', id, parent, ts: created, content: [{ type: 'text', text }], typed: text }
        : {
            type: 'assistant',
            id,
            parent,
            ts: created,
            message: {
              role: 'assistant',
              text,
              reasoning: '',
              calls: [],
              stop: 'done',
              usage,
              provider: 'bench',
              model: 'model',
              wire: 'chat',
            },
          },
    );
    parent = id;
  }
  writeFileSync(
    join(path, `${created.replaceAll(':', '-')}_bench.jsonl`),
    `${lines.map((line) => JSON.stringify(line)).join('\n')}\n`,
    { mode: 0o600 },
  );
}
