import { ChatError } from '../errors.ts';
import type { Rule } from './approval.ts';

/**
 * The rule that a text stands for. Those of `serve --rule` are understood: `git_push`, `npm_run(npm run build*)`,
 * `run(make)`; an act in several words needs nothing around it: `npx vitest *`. For other servers: `server:tool`, and
 * `server:tool(pattern)` for the arguments as JSON. `*` stands for any characters. Throws USAGE.
 */
export function parseRule(text: string, effect: Rule['effect'], source: Rule['source']): Rule {
  const given = text.trim();
  const parts = /^(?:([^:()\s]+):)?([^:()\s=]+)(?:\((.+)\))?$/s.exec(given);
  const isAct = !parts && /\S\s+\S/.test(given);
  const [, server, tool = '', act = isAct ? given : undefined] = parts ?? [];
  const isAboutFiles = server === undefined && act !== undefined && /^(?:read|write)$/.test(tool);
  const way = isAboutFiles
    ? `Rules about files are obeyed by toolcrib's own server: --rule '${given}=${effect}'.`
    : 'Write server:tool, server:tool(pattern), or an act ("npm test*").';
  if (isAboutFiles || (!parts && !isAct))
    throw new ChatError('USAGE', `"${text}" is no rule to ${effect}. ${way}`);
  if (act === undefined) return { effect, server: server ?? '*', tool, source };
  const isAny = isAct || (tool === 'run' && (server ?? 'toolcrib') === 'toolcrib');
  return { effect, server: server ?? 'toolcrib', tool: isAny ? '*' : tool, act, source };
}

/** A rule as a person writes it; without its server when it is for any. */
export function ruleText({ server, tool, act }: Rule): string {
  const isOwn = server === '*' || (server === 'toolcrib' && act !== undefined);
  const name = act !== undefined && tool === '*' ? 'run' : tool;
  return `${isOwn ? '' : `${server}:`}${name}${act === undefined ? '' : `(${act})`}`;
}
