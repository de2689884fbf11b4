import { Server, type Tool as ListedTool } from '@modelcontextprotocol/server';
import type { ToolDefinition } from '../core/tool-definition.ts';
import type { Connection } from './connection.ts';
import { version } from '../machine/version.ts';

const lookAndChange =
  'grep, read_file, list_files to look; edit_file, edit_files, replace_in_files, write_file to change; undo.';

const instructionsFor = ({ listsFiles }: Connection): string =>
  [
    'Tools for this project, and the development programs of this machine. Call project first.',
    'check runs tests, lint, types, build as the project does, and names what failed. run_task: its scripts.',
    ...(listsFiles ? [lookAndChange] : []),
    'git_status, git_diff, git_log, git_show, git_commit, git_switch, git_integrate, ' +
      'git_sync. query: databases.',
    'find_actions finds every other action (containers, packages, branches, move, ' +
      'delete); run_read_action and',
    'run_action call it. run starts any program. Long output is kept, long work goes on: ' +
      'read_output, control_job.',
    'Paths start at the first root; only what lies inside the roots can be reached. cwd: where a call works.',
    'Errors say what helps. NEEDS_CONFIRM: a person has to be asked and cannot be here; ' +
      'tell them what it says.',
  ].join('\n');

/** An MCP server over the toolbox, for either protocol era. Cheap, and without side effects. */
export function buildServer(connection: Connection): Server {
  const server = new Server(
    { name: 'toolcrib', title: 'toolcrib', version },
    {
      capabilities: {
        tools: { listChanged: true },
        resources: { subscribe: true },
        prompts: {},
        completions: {},
      },
      instructions: instructionsFor(connection),
      requestState: { verify: connection.questions.verify },
    },
  );
  server.setRequestHandler('tools/list', async () => {
    const { listed } = await connection.tools.listed();
    return { tools: listed.map(asListed) };
  });
  // What a call needs takes some milliseconds to load, which a start has no use for.
  server.setRequestHandler('tools/call', async ({ params }, context) => {
    const { callTool } = await import('./call-tool.ts');
    return callTool({ connection, server, context }, params);
  });
  server.setNotificationHandler('notifications/roots/list_changed', () => connection.clientRoots.forget());
  offerResources(connection, server);
  offerPrompts(connection, server);
  connection.trace?.(server, connection.client);
  connection.questions.watch(server);
  return server;
}

/** A tool as it stands in tools/list. */
function asListed({
  name,
  title,
  description,
  hint,
  listed,
  inputSchema,
  annotations,
}: ToolDefinition): ListedTool {
  const meta = { 'anthropic/searchHint': hint, ...(listed === 'first' && { 'anthropic/alwaysLoad': true }) };
  return {
    name,
    title,
    description,
    inputSchema: inputSchema as ListedTool['inputSchema'],
    annotations,
    ...(hint !== undefined && { _meta: meta }),
  };
}

/** Offers resources, which are read rather than called. Loaded when they are first asked for. */
function offerResources(connection: Connection, server: Server): void {
  const loaded = () => import('./resources.ts');
  server.setRequestHandler('resources/list', async () => {
    const { listResources } = await loaded();
    return { resources: listResources(connection) };
  });
  server.setRequestHandler('resources/templates/list', async () => {
    const { listTemplates } = await loaded();
    return { resourceTemplates: listTemplates(connection) };
  });
  server.setRequestHandler('resources/read', async ({ params: { uri } }, context) => {
    const { readResource } = await loaded();
    return readResource({ connection, server, context }, uri);
  });
  const subscribed = new Set<string>();
  server.setRequestHandler('resources/subscribe', ({ params: { uri } }) => {
    if (subscribed.size < mostSubscriptions) subscribed.add(uri);
    return {};
  });
  server.setRequestHandler('resources/unsubscribe', ({ params: { uri } }) => {
    subscribed.delete(uri);
    return {};
  });
  const send = server.sendResourceUpdated.bind(server);
  // Since 2026-07-28 the SDK knows who wants to be told; before, only those that have subscribed may be.
  server.sendResourceUpdated = async (params) => {
    const isModern = (server.getNegotiatedProtocolVersion() ?? '') >= '2026-07-28';
    if (isModern || subscribed.has(params.uri)) await send(params);
  };
}

const mostSubscriptions = 1000;

function offerPrompts(connection: Connection, server: Server): void {
  server.setRequestHandler('prompts/list', async () => {
    const { listPrompts } = await import('./prompts.ts');
    return { prompts: listPrompts(connection) };
  });
  server.setRequestHandler('prompts/get', async ({ params }) => {
    const { getPrompt } = await import('./prompts.ts');
    return getPrompt(connection, params.name, params.arguments ?? {});
  });
  server.setRequestHandler('completion/complete', async ({ params }, context) => {
    const { complete } = await import('./completions.ts');
    return complete({ connection, server, context }, params);
  });
}
