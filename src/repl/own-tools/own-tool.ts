import type { CallOptions, Tool, ToolReply } from '../toolbox/tool.ts';

interface OwnTool {
  readonly name: string;
  readonly description: string;
  readonly properties: Readonly<Record<string, unknown>>;
  readonly required: readonly string[];
  call(args: Readonly<Record<string, unknown>>, options: CallOptions): Promise<ToolReply>;
}

/** A tool of the REPL itself: it changes nothing but what the person sees and the session keeps. */
export function ownTool({ name, description, properties, required, call }: OwnTool): Tool {
  return {
    name,
    description,
    inputSchema: { type: 'object', properties, required, additionalProperties: false },
    own: true,
    server: 'chat',
    tool: name,
    annotations: { readOnlyHint: true, openWorldHint: false },
    trusted: true,
    identity: 'chat',
    definition: name,
    call,
  };
}
