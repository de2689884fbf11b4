import type { Agent } from '../turn/agent.ts';
import { memorySession } from '../session/session.ts';
import { failed, replied, shownName, type CallOptions, type ToolReply } from '../toolbox/tool.ts';
import { runTurn } from '../turn/turn.ts';

const rounds = 25;

/**
 * A task done in a context of its own: only its last answer comes back. It asks the same person about the same
 * things.
 */
export async function runSubAgent(
  agent: Agent,
  task: string,
  { signal, progress }: CallOptions,
): Promise<ToolReply> {
  const session = memorySession(agent.session.header.cwd);
  session.append({ type: 'user', content: [{ type: 'text', text: task }] });
  // A schema is for the last answer to the person.
  const { schema: _, ...same } = agent;
  const sub: Agent = {
    ...same,
    session,
    limits: { ...agent.limits, rounds },
    compactionFailed: false,
    // The person may change it meanwhile.
    get mode() {
      return agent.mode;
    },
    tools: () => agent.tools().filter(({ own }) => !own),
  };
  let text = '';
  for await (const event of runTurn(sub, signal)) {
    if (event.type === 'answer') ({ text } = event.message);
    if (event.type === 'call_started' && event.tool) progress?.(shownName(event.tool));
    if (event.type !== 'ended' || event.reason === 'done') continue;
    const words = text === '' ? '' : ` Its last words: ${text}`;
    return {
      ...failed(`The sub-agent did not finish (${event.reason}).${words}`),
      stops: event.reason === 'stopped' && agent.person !== undefined,
    };
  }
  return text === '' ? failed('The sub-agent ended without an answer.') : replied(text);
}
