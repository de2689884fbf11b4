import type { Agent } from '../turn/agent.ts';
import { createSession } from '../session/open-session.ts';
import { failed, replied, type ToolReply } from '../toolbox/tool.ts';
import type { TurnEvent } from '../turn/turn-event.ts';
import { runTurn } from '../turn/turn.ts';

const rounds = 25;

/**
 * A task done in a context of its own: its calls are shown, and only its last answer comes back. It asks the same
 * person about the same things.
 */
export async function* runSubAgent(
  agent: Agent,
  task: string,
  signal: AbortSignal,
): AsyncGenerator<TurnEvent, ToolReply> {
  const session = createSession(undefined, { cwd: agent.session.header.cwd });
  session.append({ type: 'user', content: [{ type: 'text', text: task }] });
  const sub = Object.create(agent, {
    session: { value: session },
    limits: { value: { ...agent.limits, rounds } },
    // A schema is for the last answer to the person.
    schema: { value: undefined },
    // The person may change it meanwhile.
    mode: { get: () => agent.mode },
    system: { value: () => agent.system() },
    tools: { value: () => agent.tools().filter(({ own }) => !own) },
  }) as Agent;
  let text = '';
  for await (const event of runTurn(sub, signal)) {
    if (event.type === 'answer') ({ text } = event.message);
    if (event.type.startsWith('call_')) yield event;
    if (event.type !== 'ended' || event.reason === 'done') continue;
    const words = text === '' ? '' : ` Its last words: ${text}`;
    const reply = failed(`The sub-agent did not finish (${event.reason}).${words}`);
    return { ...reply, stops: event.reason === 'stopped' && agent.person !== undefined };
  }
  return text === '' ? failed('The sub-agent ended without an answer.') : replied(text);
}
