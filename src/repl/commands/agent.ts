import { runSubAgent } from '../own-tools/sub-agent.ts';
import { untilConnected } from '../turn/send.ts';
import type { Command } from './command.ts';
import { wrongUse } from './usage-error.ts';

/** /agent TASK: a sub-turn with its own context; its answer is told to the model with the next message. */
export const agentCommand: Command = {
  name: 'agent',
  usage: 'task',
  help: 'has a task done in a context of its own; only the answer comes back',
  run({ chat }, task) {
    if (task === '') throw wrongUse('/agent: a task is expected.');
    return {
      next: 'show',
      async *events(signal) {
        await untilConnected(chat, signal);
        const { text, isError } = await runSubAgent(chat, task, { signal });
        if (isError) yield { type: 'warning', text };
        else {
          yield { type: 'text', text };
          chat.tell(`A sub-agent was given this task by the person: ${task}\nIts answer:\n${text}`);
        }
        yield { type: 'ended', reason: signal.aborted ? 'interrupted' : 'done' };
      },
    };
  },
};
