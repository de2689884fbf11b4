import { homedir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import type * as Library from './types.d.ts';

/*
 * What `import … from 'toolcrib'` gives; types.d.ts says what each is. Hardly anything is loaded before one is called.
 */

/** Where the other files of the package are. */
const dist = dirname(fileURLToPath(import.meta.url));

export const connect: typeof Library.connect = async (options = {}) => {
  const [{ Client, InMemoryTransport }, { version }] = await Promise.all([
    import('@modelcontextprotocol/client'),
    import('../machine/version.ts'),
  ]);
  // A file of its own, as it has another copy of the SDK, without what a server does not need.
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
    client.setRequestHandler('elicitation/create', async ({ params }) => ({
      ...(await onQuestion({
        message: params.message,
        ...('requestedSchema' in params && { requestedSchema: params.requestedSchema }),
      })),
    }));
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
  const left = new AbortController();
  const signal = options.signal ? AbortSignal.any([options.signal, left.signal]) : left.signal;
  let answering: Promise<unknown> = Promise.resolve();
  const events = eventStream<Library.QueryEvent, unknown>((emit) => {
    const target = {
      output: 'stream-json' as const,
      write: (line: string) => void emit(JSON.parse(line) as Library.QueryEvent),
      note() {},
      live: false,
    };
    const warn = (text: string) => void emit({ type: 'warning', text });
    answering = (async () =>
      answerOnce(await chatOptions(options, warn), [{ text: prompt }], target, signal))();
    return answering;
  });
  try {
    yield* events;
  } finally {
    left.abort();
    // Whoever has left is not told that it was interrupted.
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

/** As the command line has it. */
const served = ({ readOnly, toolsets, rules, checkpoints }: Library.ToolOptions) => ({
  'read-only': readOnly,
  toolsets: toolsets?.join(','),
  rule: rules && [...rules],
  'no-checkpoints': checkpoints === false,
});
