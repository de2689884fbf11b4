import type { Mode } from '../turn-event.ts';
import { replied, type Tool } from '../toolbox/tool.ts';
import { ownTool, type Dialog } from './own-tool.ts';

const choices = ['go on, and ask me before changes', 'go on by itself', 'keep planning'];

/** Brings a plan before the person, and leaves plan mode when they approve it. */
export const exitPlan = (dialog: Dialog | undefined, useMode: (mode: Mode) => void): Tool =>
  ownTool({
    name: 'exit_plan',
    description:
      'Hands in the plan, in Markdown, once it is complete. The person approves it, or says what to change.',
    properties: { plan: { type: 'string' } },
    required: ['plan'],
    async call({ plan }, { signal }) {
      if (!dialog) return replied('Nobody is here to approve the plan. End with the plan as your answer.');
      dialog.show(String(plan));
      const answer = await dialog.ask('The plan: choose, or say what to change', choices, signal);
      if (answer === choices[0] || answer === choices[1]) {
        useMode(answer === choices[1] ? 'auto' : 'ask');
        return replied(
          'The person approved the plan. Plan mode is over: all tools can be used now. Carry the plan out.',
        );
      }
      const wish = answer === undefined || answer === choices[2] ? '' : ` The person says: ${answer}`;
      return replied(`The plan is not approved yet. Keep planning.${wish}`);
    },
  });
