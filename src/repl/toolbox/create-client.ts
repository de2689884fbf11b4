import type { Client, ClientOptions } from '@modelcontextprotocol/client';
import { basename } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { ServerConfig } from '../config/server-config.ts';
import type { ElicitAnswer, ElicitRequest } from '../person/form-fields.ts';
import { oneLine } from '../text/one-line.ts';

/** A server of the first generation may not answer what it does not know; over HTTP, silence is an outage. */
const probeMs = { stdio: 2_000, http: 30_000 } as const;

/** What a server may want of the host. */
export interface Host {
  readonly clientInfo: { readonly name: string; readonly version: string };
  roots(): readonly string[];
  elicit(request: ElicitRequest): Promise<ElicitAnswer>;
  log(text: string): void;
}

interface Changes {
  toolsChanged(client: Client): void;
  promptsChanged(client: Client): void;
}

/** Loads the SDK and makes a client that answers what this server may ask, in either revision. */
export async function createClient(config: ServerConfig, host: Host, changes: Changes): Promise<Client> {
  // Our own hands us its plans, and asks nobody.
  const asks = !config.isOwn;
  const { Client } = await import('@modelcontextprotocol/client');
  const listener = (onChanged: (client: Client) => void) => ({
    autoRefresh: false,
    onChanged: () => onChanged(client),
  });
  const client: Client = new Client(host.clientInfo, {
    capabilities: { roots: { listChanged: true }, ...(asks && { elicitation: { form: {} } }) },
    versionNegotiation: negotiationFor(config),
    listChanged: { tools: listener(changes.toolsChanged), prompts: listener(changes.promptsChanged) },
  });
  // What a server writes besides messages ends up here.
  // oxlint-disable-next-line unicorn/prefer-add-event-listener -- the SDK has no events
  client.onerror = (error) =>
    host.log(`${config.name}: ${'issues' in error ? 'it wrote what is no message' : oneLine(error.message)}`);
  client.setRequestHandler('roots/list', () => ({
    roots: host.roots().map((path) => ({ uri: pathToFileURL(path).href, name: basename(path) || path })),
  }));
  if (!asks) return client;
  client.setRequestHandler('elicitation/create', async ({ params }, { mcpReq: { signal } }) => {
    // A form is all we said we can do.
    if (!('requestedSchema' in params)) return { action: 'decline' };
    const { message, requestedSchema } = params;
    const asked = { server: config.name, message, signal };
    return { ...(await host.elicit({ ...asked, requestedSchema: { ...requestedSchema } })) };
  });
  return client;
}

function negotiationFor({
  protocol,
  isOwn,
  kind,
}: ServerConfig): NonNullable<ClientOptions['versionNegotiation']> {
  // Our own server is told of new roots at once, which only the older revision can do.
  if (isOwn || protocol === '2025-11-25') return { mode: 'legacy' };
  return protocol === 'auto'
    ? { mode: 'auto', probe: { timeoutMs: probeMs[kind] } }
    : { mode: { pin: protocol } };
}
