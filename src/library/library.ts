import { homedir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import type * as Library from './types.d.ts';

// The exports of the package, which types.d.ts documents. Almost nothing is loaded before the first call.

/** The folder of the package's other files. */
const dist = dirname(fileURLToPath(import.meta.url));

export const connect: typeof Library.connect = async (options = {}) => {
  const [{ Client, InMemoryTransport }, { version }] = await Promise.all([
    import('@modelcontextprotocol/client'),
    import('../machine/version.ts'),
  ]);
  // The server is a file of its own, with a copy of the SDK that leaves out what only clients need.
  const { serveHere } = (await import('./serve.cjs' as string)) as typeof import('../cli/serve.ts');
  const { onQuestion, expose } = options;
  const client = new Client(
    { name: 'toolcrib-library', version },
    {
      capabilities: onQuestion ? { elicitation: { form: {} } } : {},
      versionNegotiation: { mode: { pin: '2026-07-28' } },
    },
  );
  if (onQuestion)
    client.setRequestHandler('elicitation/create', async ({ params }) => {
      const answer = await onQuestion({
        message: params.message,
        ...('requestedSchema' in params && { requestedSchema: params.requestedSchema }),
      });
      return { ...answer };
    });
  const [ours, theirs] = InMemoryTransport.createLinkedPair();
  const roots = (options.roots ?? [process.cwd()]).map((root) => resolve(root));
  const endServer = await serveHere({ ...served(options), root: roots, expose }, theirs);
  const close = client.close.bind(client);
  client.close = async () => {
    await close();
    await endServer();
  };
  await client.connect(ours).catch(async (error: unknown) => {
    await endServer();
    throw error;
  });
  return client;
};

export const query: typeof Library.query = async (prompt, options) => {
  let answer: Library.Answer | undefined;
  for await (const event of queryStream(prompt, options)) if (event.type === 'result') answer = event;
  if (!answer) throw new Error('The query has ended without a result.');
  return answer;
};

export const queryStream: typeof Library.queryStream = async function* (prompt, options = {}) {
  const { answerOnce, eventStream } = await chatFile();
  const leaving = new AbortController();
  const signal = options.signal ? AbortSignal.any([options.signal, leaving.signal]) : leaving.signal;
  let answering: Promise<unknown> = Promise.resolve();
  const events = eventStream<Library.QueryEvent, unknown>((emit) => {
    const target = {
      output: 'stream-json' as const,
      write(line: string) {
        void emit(JSON.parse(line) as Library.QueryEvent);
      },
      note() {},
      live: false,
    };
    const warn = (text: string) => {
      void emit({ type: 'warning', text });
    };
    const answer = async () =>
      answerOnce(await chatOptions(options, warn), [{ text: prompt }], target, signal);
    answering = answer();
    return answering;
  });
  try {
    yield* events;
  } finally {
    leaving.abort();
    // A caller that has left the loop does not learn that it was interrupted.
    await answering.catch(() => {});
  }
};

const chatFile = () => import('./chat.cjs' as string) as Promise<typeof import('../cli/chat.ts')>;

async function chatOptions(options: Library.QueryOptions, warn: (text: string) => void) {
  const { asArguments, version } = await chatFile();
  const {
    env = process.env,
    allow = [],
    deny = [],
    mcp = [],
    model,
    mode,
    profile,
    schema,
    maxTurns,
    replay,
  } = options;
  const cwd = resolve(options.cwd ?? '.');
  return {
    cwd,
    env: { ...env },
    home: env['HOME'] ?? env['USERPROFILE'] ?? homedir(),
    version,
    warn,
    ownServer: {
      command: process.execPath,
      args: [join(dist, 'toolcrib.cjs'), 'serve', ...asArguments(served(options))],
    },
    roots: options.roots?.map((root) => resolve(root)),
    variables: {},
    rules: { allow, ask: [], deny },
    mcpFiles: mcp.map((file) => resolve(file)),
    session: 'none' as const,
    temporary: false,
    ...(model !== undefined && { model }),
    ...(mode !== undefined && { mode }),
    ...(profile !== undefined && { profile }),
    ...(schema !== undefined && { schema }),
    ...(maxTurns !== undefined && { maxTurns }),
    ...(replay !== undefined && { replay: resolve(replay) }),
  };
}

/** Converts options to those of the command line. */
const served = ({ readOnly, toolsets, rules, checkpoints }: Library.ToolOptions) => ({
  'read-only': readOnly,
  toolsets: toolsets?.join(','),
  rule: rules && [...rules],
  'no-checkpoints': checkpoints === false,
});
