import { Buffer } from 'node:buffer';
import * as nodeModule from 'node:module';
import { join } from 'node:path';
import { isatty } from 'node:tty';
import { settleHome } from '../store/home.ts';
import { makePrivate } from '../store/own-files.ts';
import { keepYoungSpaceSmall } from '../store/v8-flags.ts';
import {
  firstLists,
  ownCache,
  readStartCache,
  readMessage,
  startKey,
  replayedId,
  requestKey,
  type EarlyAnswers,
  type StartKey,
  type JsonRpcRequest,
  type CachedResults,
} from '../server/start/start-cache.ts';
import { requireCompiled } from './compiled.ts';

// The program's first file. It needs only Node's own modules, and answers a host's first requests with the
// answers of the last start, as long as nothing has changed. The server itself is loaded with the first
// request of another kind, because hosts ask for the list and then wait for minutes.

/** Limits for early messages; a host sends a dozen at most, each in a line that is far shorter. */
const mostMessages = 100;
const mostBytes = 64 * 1024;
const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

settleHome();
const args = process.argv.slice(2);
const server = join(__dirname, 'serve.cjs');
const cache = ownCache();
const code = cache && join(cache, 'code');
if (args.includes('--help') || args.includes('-h') || !['serve', 'chat'].includes(args[0] ?? '')) runOther();
else if (args[0] === 'chat') runChat();
// A host that passes a key begins with that, and asks for more at once; early answers are not traced.
else if (args.some((arg) => /^--(?:key-fd=|http$|trace)/.test(arg))) runServer();
else {
  if (isatty(0))
    process.stderr.write(
      'toolcrib serve speaks MCP, for a host that starts it; Ctrl-C ends it.\n' +
        '`toolcrib config HOST` makes the entry for one; `toolcrib try` shows what a model can do here.\n',
    );
  const remembered = startKey(args, server);
  const results = remembered && readStartCache(remembered);
  if (remembered && results) answerFirst(remembered, results);
  else runServer(remembered && { remembered, results: {}, input: Buffer.alloc(0) });
}

function answerFirst(remembered: StartKey, results: CachedResults): void {
  const replayed: string[] = [];
  let listed: JsonRpcRequest | undefined;
  let input: Buffer = Buffer.alloc(0);

  /** Answers a message; false where that needs the server. */
  function answer(line: string): boolean {
    const message = readMessage(line);
    if (!message) return false;
    const { id, method } = message;
    if (id === undefined) {
      replayed.push(`${line}\n`);
      return replayed.length <= mostMessages;
    }
    const result = results[requestKey(message)];
    if (result === undefined || replayed.length >= mostMessages) return false;
    process.stdout.write(`{"result":${JSON.stringify(result)},"jsonrpc":"2.0","id":${JSON.stringify(id)}}\n`);
    if (method === 'tools/list') listed = { ...message, id };
    // A server that is loaded later need not know that a list was returned.
    else if (!firstLists.has(method))
      replayed.push(`${JSON.stringify({ ...message, id: `${replayedId}${replayed.length}` })}\n`);
    return true;
  }

  const take = (chunk: Buffer) => {
    input = Buffer.concat([input, chunk]);
    for (let end = input.indexOf('\n'); end >= 0; end = input.indexOf('\n')) {
      const isAnswered = answer(input.toString('utf8', 0, end));
      if (!isAnswered) {
        handOver();
        return;
      }
      input = input.subarray(end + 1);
    }
    if (input.length > mostBytes) handOver();
  };
  const handOver = () => {
    process.stdin.off('data', take).off('end', end).off('close', end).pause();
    process.stdout.off('error', end);
    for (const signal of signals) process.off(signal, end);
    const unanswered = Buffer.concat([Buffer.from(replayed.join('')), input]);
    replayed.length = 0;
    runServer({ remembered, results, ...(listed && { listed }), input: unanswered });
  };
  const end = () => leave(0);
  process.stdin.on('data', take).once('end', end).once('close', end);
  process.stdout.once('error', end);
  for (const signal of signals) process.once(signal, end);
}

function runServer(opening?: EarlyAnswers): void {
  // Before the server allocates anything; server/lean-heap.ts has the rest.
  keepYoungSpaceSmall();
  const use = args.includes('--http') ? 'http' : opening?.listed ? 'call' : 'list';
  const loaded = requireCompiled(server, { folder: code, use }) as typeof import('./serve.ts');
  run(loaded.serveCommand(args.slice(1), opening));
}

function runChat(): void {
  const file = join(__dirname, 'chat.cjs');
  const loaded = requireCompiled(file, { folder: code, use: 'chat' }) as typeof import('./chat.ts');
  run(loaded.chatCommand(args.slice(1)));
}

function runOther(): void {
  const { enableCompileCache } = nodeModule as { enableCompileCache?: (folder: string) => unknown };
  try {
    // Whoever can write to this folder decides what runs.
    if (enableCompileCache && code && makePrivate(code)) enableCompileCache(code);
  } catch {
    // In a read-only home everything works as well, only slower.
  }
  run((import('./main.mjs' as string) as Promise<typeof import('./main.ts')>).then(({ main }) => main(args)));
}

function run(ended: Promise<number>): void {
  ended.then(leave, (error: unknown) => {
    // A system error about a path is no bug of ours: a home that cannot be written, a full disk.
    const isOfPath = error instanceof Error && 'syscall' in error && 'path' in error;
    if (isOfPath) process.stderr.write(`toolcrib: ${error.message}.\n`);
    else process.stderr.write(`${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
    leave(isOfPath ? 1 : 70);
  });
}

/**
 * Exits once standard output has taken everything, which a pipe does later. The code 70 is EX_SOFTWARE of
 * sysexits.h, for a bug of ours.
 */
function leave(code: number): void {
  process.exitCode = code;
  process.stdout.write('', () => process.exit(code));
}
