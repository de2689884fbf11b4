import type { Chat } from '../chat.ts';
import { createSession } from '../session/session.ts';
import { failed, replied, type ToolReply } from '../toolbox/tool.ts';

import type { TurnEvent } from '../turn/turn-event.ts';
import { runTurn } from '../turn/turn.ts';

const rounds = 25;

/**
 * A task done in a context of its own: its calls are shown, and only its last answer comes back. It asks the same
 * person about the same things.
 */
export async function* runSubAgent(
  agent: Chat,
  task: string,
  signal: AbortSignal,
): AsyncGenerator<TurnEvent, ToolReply> {
  const session = createSession(undefined, { cwd: agent.session.header.cwd });
  session.append({ type: 'user', content: [{ type: 'text', text: task }] });
  // All that is not said here is as with the agent, also when the person changes it meanwhile.
  const sub = Object.create(agent, {
    session: { value: session },
    limits: { value: { ...agent.limits, rounds } },
    // A schema is for the last answer to the person.
    schema: { value: undefined },
    tools: { value: () => agent.tools().filter(({ own }) => !own) },
    // They are of the session.
    mode: { get: () => agent.mode },
    system: { value: () => agent.system() },
  }) as Chat;
  let text = '';
  let end = 'done';
  for await (const event of runTurn(sub, signal)) {
    if (event.type === 'answer') ({ text } = event.message);
    if (event.type.startsWith('call_')) yield event;
    if (event.type === 'ended') end = event.reason;
  }
  if (end === 'done') return text === '' ? failed('The sub-agent ended without an answer.') : replied(text);
  const words = text === '' ? '' : ` Its last words: ${text}`;
  const reply = failed(`The sub-agent did not finish (${end}).${words}`);
  return { ...reply, stops: end === 'stopped' && agent.person !== undefined };
}
