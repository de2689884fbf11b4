import type { CallToolResult, Tool as ListedTool } from '@modelcontextprotocol/server';
import type { ToolResult } from '../core/tool.ts';
import type { PublishedTool } from './published.ts';
import { searchMeta } from './search-hints.ts';

/** A tool as it stands in tools/list. */
export function asListed({ name, title, description, inputSchema, annotations }: PublishedTool): ListedTool {
  const meta = searchMeta(name);
  return {
    name,
    title,
    description,
    inputSchema: inputSchema as ListedTool['inputSchema'],
    annotations,
    ...(meta && { _meta: meta }),
  };
}

/** A result as it goes over the wire: its text. Hosts that are given data as well show a model only that. */
export const asMcpResult = ({ content, isError, meta }: ToolResult): CallToolResult => ({
  content: [...content],
  ...(isError ? { isError } : {}),
  ...(meta ? { _meta: { ...meta } } : {}),
});
