// What bench/overhead.mjs puts in the place of src/server/calls.ts: tools are called, and nothing is decided, kept or
// written down.
import { checkParams } from '../src/core/check-params.ts';
import type { Settings } from '../src/core/settings.ts';
import type { CallContext, Tool, ToolResult } from '../src/core/tool.ts';
import type { Host } from '../src/machine/host.ts';
import type { Caller } from '../src/server/calls.ts';
import type { PublishedTool } from '../src/server/published.ts';

export function createCalls(
  _host: Host,
  settings: Settings,
  tools: { load(tool: PublishedTool): Promise<Tool> },
) {
  return {
    async call(published: PublishedTool, params: unknown, caller: Caller): Promise<ToolResult> {
      const tool = await tools.load(published);
      const context: CallContext = {
        ...caller,
        trusts: () => Promise.resolve(false),
        permit: () => Promise.resolve(),
        keepOutput: () => ({ handle: '', add: () => {}, end: () => {} }),
        budgets: settings.budgets,
      };
      return tool.call(checkParams(tool.params, params), context);
    },
    end: () => Promise.resolve(),
  };
}
