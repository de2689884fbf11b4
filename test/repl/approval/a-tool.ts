import type { Rule } from '../../../src/repl/approval/approval.ts';
import { replied, type Tool } from '../../../src/repl/toolbox/tool.ts';

/** A tool of a trusted server of which nothing else is known. */
export const aTool = (facts: Partial<Tool> = {}): Tool => ({
  name: 'mcp__git__git_push',
  description: 'Pushes',
  inputSchema: { type: 'object' },
  server: 'git',
  tool: 'git_push',
  annotations: {},
  trusted: true,
  identity: 'identity-1',
  definition: 'definition-1',
  call: async () => replied('done'),
  ...facts,
});

export const aRule = (effect: Rule['effect'], facts: Partial<Rule> = {}): Rule => ({
  effect,
  server: '*',
  tool: '*',
  source: 'user',
  ...facts,
});
