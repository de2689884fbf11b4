import { join } from 'node:path';
import { readMcpConfig, type McpConfig } from './config/mcp-config.ts';
import type { ServerConfig } from './config/server-config.ts';
import type { ChatOptions } from './options.ts';

/** Our own server as every host starts it. */
export const ownServer = ({ ownServer: own, cwd }: ChatOptions): ServerConfig[] =>
  own
    ? [
        {
          name: 'toolcrib',
          kind: 'stdio',
          command: own.command,
          args: [...own.args],
          env: {},
          cwd,
          trust: true,
          // In 2025-11-25 a client says at once that its roots have changed.
          protocol: '2025-11-25',
          timeoutMs: 10 * 60_000,
          isOwn: true,
        },
      ]
    : [];

/** The servers of the person's mcp.json and of files named on the command line; of one name, the last counts. */
export async function otherServers({ env, mcpFiles }: ChatOptions, configFolder: string): Promise<McpConfig> {
  const all = await Promise.all([
    readMcpConfig(join(configFolder, 'mcp.json'), { env, needed: false }),
    ...mcpFiles.map((file) => readMcpConfig(file, { env, needed: true })),
  ]);
  const byName = new Map(all.flatMap(({ servers }) => servers).map((server) => [server.name, server]));
  return { servers: [...byName.values()], warnings: all.flatMap(({ warnings }) => warnings) };
}
