import { spawn, type ChildProcess } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as TransportV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { onTestFinished } from 'vitest';
import { replyTo, type Person } from './person.ts';
import { inherited, program, type Era } from './server.ts';

export interface HttpServer {
  readonly url: string;
  readonly token: string;
  readonly instance: string;
  readonly child: ChildProcess;
  /** All that it said on standard error. */
  said(): string;
  /** Resolves with the exit code. */
  readonly ended: Promise<number | null>;
}

/** `toolcrib serve --http` on a free port; it ends with the test. */
export async function serveHttp(
  roots: readonly string[],
  args: readonly string[] = [],
  env: Record<string, string> = {},
): Promise<HttpServer> {
  const line = [program, 'serve', '--http', '--port', '0', ...roots.map((root) => `--root=${root}`), ...args];
  const child = spawn(process.execPath, line, {
    env: { ...inherited(), ...env },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const ended = new Promise<number | null>((resolve) => child.once('exit', resolve));
  onTestFinished(async () => {
    child.kill('SIGKILL');
    await ended;
  });
  let text = '';
  const [, url = '', instance = '', file = ''] = await new Promise<RegExpExecArray>((resolve, reject) => {
    child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk;
      const said = /serving (\S+) as instance (\w+); clients need the token in (.+)\n/.exec(text);
      if (said) resolve(said);
    });
    void ended.then((code) => reject(new Error(`ended with ${code}: ${text}`)));
  });
  const token = readFileSync(file.replace(/^~/, process.env['HOME'] ?? ''), 'utf8').split('\n')[0] ?? '';
  return { url, token, instance, child, ended, said: () => text };
}

const withToken = (token: string) => ({ requestInit: { headers: { Authorization: `Bearer ${token}` } } });

/** A client of the current SDK, in either era. It is closed with the test. */
export async function connectHttp(
  era: Era,
  { url, token }: Pick<HttpServer, 'url' | 'token'>,
  { name = 'test', answer }: { name?: string; answer?: Person } = {},
): Promise<Client> {
  const client = new Client(
    { name, version: '1' },
    {
      capabilities: answer ? { elicitation: { form: {} } } : {},
      versionNegotiation: { mode: era === '2026-07-28' ? { pin: era } : 'legacy' },
    },
  );
  if (answer) client.setRequestHandler('elicitation/create', ({ params }) => replyTo(answer, params));
  await client.connect(new StreamableHTTPClientTransport(new URL(url), withToken(token)));
  onTestFinished(() => client.close().catch(() => {}));
  return client;
}

/** A client of the first SDK. */
export async function connectHttpV1(
  { url, token }: Pick<HttpServer, 'url' | 'token'>,
  answer?: Person,
  fetch = globalThis.fetch,
): Promise<ClientV1> {
  const capabilities = answer ? { elicitation: {} } : {};
  const client = new ClientV1({ name: 'test-v1', version: '1' }, { capabilities });
  if (answer) client.setRequestHandler(ElicitRequestSchema, ({ params }) => replyTo(answer, params));
  await client.connect(new TransportV1(new URL(url), { ...withToken(token), fetch }) as Transport);
  onTestFinished(() => client.close().catch(() => {}));
  return client;
}
