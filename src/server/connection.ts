import type { Server, ServerContext } from '@modelcontextprotocol/server';
import type { Settings } from '../core/settings.ts';
import type { ToolRegistry } from '../core/tool-definition.ts';
import type { Environment } from '../machine/environment.ts';
import type { Session } from '../machine/session.ts';
import { createApprovalTickets, type ApprovalTickets } from './approvals/approval-tickets.ts';
import { createQuestions, type Questions } from './approvals/ask.ts';
import { createClientRoots, type ClientRoots } from './client/client-roots.ts';
import { createRootOpener, type OpenRoots } from './environment/roots.ts';
import { createToolRegistry } from './registry/tool-registry.ts';
import type { SessionOptions } from './create-session.ts';
import type { Trace } from './client/trace.ts';

/**
 * A client, as it is reached; its session is made with its first call. A connection may see more than one
 * server.
 */
export interface Connection {
  /**
   * Whose calls they are: standard input and output have one client, however many servers the SDK makes for
   * it.
   */
  readonly client: string;
  readonly tools: ToolRegistry;
  /** True where file tools are listed. */
  readonly listsFiles: boolean;
  readonly clientRoots: ClientRoots;
  /** The folders that calls may touch, and the settings in force there. */
  readonly openRoots: OpenRoots;
  readonly questions: Questions;
  /** For the one host that asks its user itself; undefined where none has a key. */
  readonly tickets: ApprovalTickets | undefined;
  /** Writes messages down, where that is wanted. */
  readonly trace: Trace | undefined;
  session(): Promise<Session>;
  /** Tells the client that a resource has changed. */
  updated(uri: string): void;
  /** Called at the end of each call. */
  called(): void;
  /** Ends all jobs and forgets all output. */
  end(): Promise<void>;
}

export interface ConnectionOptions
  extends
    Omit<SessionOptions, 'jobEnded'>,
    Pick<Connection, 'client' | 'updated'>,
    Partial<Pick<Connection, 'clientRoots' | 'openRoots' | 'trace' | 'called'>> {
  /** Of the host that asks its user itself. */
  readonly hostKey?: string | undefined;
}

/** A client's request, as its server got it. */
export interface ClientRequest {
  readonly connection: Connection;
  readonly server: Server;
  readonly context: ServerContext;
}

/** Resources of which clients are told when they have changed. */
export const programsUri = 'toolcrib://programs';
export const projectUri = 'toolcrib://project';
const outputUri = (handle: string): string => `toolcrib://output/${handle}`;

export function createConnection(
  settings: Settings,
  environment: Environment,
  options: ConnectionOptions,
): Connection {
  const { client, updated, hostKey } = options;
  const tools = createToolRegistry(environment, settings);
  let session: Promise<Session> | undefined;
  const openSession = async () => {
    // A start has no use for it.
    const { createSession } = await import('./create-session.ts');
    const jobEnded = (handle: string) => updated(outputUri(handle));
    return createSession(environment, settings, tools, { ...options, jobEnded });
  };
  return {
    client,
    tools,
    listsFiles: settings.expose !== 'no-files',
    clientRoots: options.clientRoots ?? createClientRoots(),
    openRoots: options.openRoots ?? createRootOpener(settings, environment),
    questions: createQuestions(),
    tickets: hostKey === undefined ? undefined : createApprovalTickets(hostKey),
    trace: options.trace,
    session: () => {
      session ??= openSession();
      return session;
    },
    updated,
    called: options.called ?? (() => {}),
    end: async () => (await session)?.end(),
  };
}
