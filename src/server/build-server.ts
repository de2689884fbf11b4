import {
  CLIENT_CAPABILITIES_META_KEY,
  inputRequired,
  inputResponse,
  ProtocolError,
  ProtocolErrorCode,
  Server,
  type ClientCapabilities,
  type ServerContext,
} from '@modelcontextprotocol/server';
import type { RootedWorkspace } from '../machine/workspace.ts';
import { asListed, asMcpResult } from './mcp-tool.ts';
import { progressOf } from './progress.ts';
import type { PublishedTool } from './published.ts';
import type { Toolbox } from './toolbox.ts';
import { version } from './version.ts';

/** What the servers of one process share; a connection may see more than one server (the SDK makes one to probe). */
export interface Crib {
  readonly toolbox: Toolbox;
  /** The folders a call may touch, given what the client has said. */
  workspace(clientRoots: readonly string[] | undefined): Promise<RootedWorkspace>;
  /** What the client has said its roots are; undefined until it was asked. */
  clientRoots: readonly string[] | undefined;
}

const instructions = `Development programs installed on this machine, as typed actions named <program>_<action>, and file tools.
Relative paths and cwd start at the first root. Only files inside the roots can be reached.
list_programs tells which programs there are and why others are missing.
Errors begin with a code and end with the way out. Long output is cut in the middle, and says so; ask for less or for a range.`;

/** An MCP server over the toolbox, for either protocol era. Cheap, and without side effects. */
export function buildServer(crib: Crib): Server {
  const server = new Server(
    { name: 'toolcrib', title: 'toolcrib', version },
    { capabilities: { tools: { listChanged: true } }, instructions },
  );
  server.setRequestHandler('tools/list', async () => ({ tools: (await crib.toolbox.list()).map(asListed) }));
  server.setNotificationHandler('notifications/roots/list_changed', () => {
    crib.clientRoots = undefined;
  });
  server.setRequestHandler('tools/call', async ({ params }, context) => {
    const published = findTool(crib.toolbox, params.name);
    if (crib.clientRoots === undefined && clientHasRoots(server, context)) {
      const answer = inputResponse(context.mcpReq.inputResponses, 'roots');
      if (answer.kind === 'missing')
        return inputRequired({ inputRequests: { roots: inputRequired.listRoots() } });
      crib.clientRoots = answer.kind === 'roots' ? answer.roots.map(({ uri }) => uri) : [];
    }
    const progress = progressOf(context);
    const result = await crib.toolbox
      .call(published, params.arguments, {
        workspace: await crib.workspace(crib.clientRoots),
        signal: context.mcpReq.signal,
        progress: progress.report,
      })
      .finally(progress.end);
    return server.projectCallToolResult(asMcpResult(result), published.outputSchema);
  });
  return server;
}

/** An unknown tool is an error of the protocol, not of the tool (MCP, "Error Handling" of tools). */
function findTool(toolbox: Toolbox, name: string): PublishedTool {
  try {
    return toolbox.find(name);
  } catch (error) {
    throw new ProtocolError(
      ProtocolErrorCode.InvalidParams,
      error instanceof Error ? error.message : String(error),
    );
  }
}

/** A modern client declares its capabilities with every request, a 2025 one once when it connects. */
function clientHasRoots(server: Server, { mcpReq }: ServerContext): boolean {
  const declared = (mcpReq.envelope as Record<string, ClientCapabilities | undefined> | undefined)?.[
    CLIENT_CAPABILITIES_META_KEY
  ];
  return (declared ?? server.getClientCapabilities())?.roots !== undefined;
}
