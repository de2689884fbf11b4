// The least an MCP call can cost: a server made with the SDK as its examples do, with one tool that does nothing.
import { McpServer } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import * as z from 'zod';

serveStdio(() => {
  const server = new McpServer({ name: 'empty', version: '1.0.0' });
  server.registerTool('empty', { description: 'Nothing', inputSchema: z.object({}) }, () => ({
    content: [{ type: 'text', text: '' }],
  }));
  return server;
});
process.stdin.once('end', () => process.exit(0));
