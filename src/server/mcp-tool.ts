import type { CallToolResult, Tool as ListedTool } from '@modelcontextprotocol/server';
import type { ToolResult } from '../core/tool.ts';
import type { PublishedTool } from './published.ts';

/** A tool as it stands in tools/list. */
export function asListed({
  name,
  title,
  description,
  inputSchema,
  outputSchema,
  annotations,
}: PublishedTool): ListedTool {
  return {
    name,
    title,
    description,
    inputSchema: inputSchema as ListedTool['inputSchema'],
    ...(outputSchema ? { outputSchema: outputSchema as NonNullable<ListedTool['outputSchema']> } : {}),
    annotations,
  };
}

/**
 * A result as it goes over the wire: its text, where there is one. Data alone is sent twice, structured and as
 * text, because some hosts show a model only the one and some only the other. An error carries no structured
 * content: clients check it against the schema.
 */
export function asMcpResult({ content, data, isError, meta }: ToolResult): CallToolResult {
  if (data === undefined || content !== undefined || isError)
    return {
      content: [...(content ?? [])],
      ...(isError ? { isError } : {}),
      ...(meta ? { _meta: { ...meta } } : {}),
    };
  return { content: [{ type: 'text', text: JSON.stringify(data) }], structuredContent: data };
}
