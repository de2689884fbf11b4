import { failed, replied, type Tool } from '../toolbox/tool.ts';
import { ownTool, type Dialog } from './own-tool.ts';

/** Lets the model put a question to the person. */
export const askUser = (dialog: Dialog | undefined): Tool =>
  ownTool({
    name: 'ask_user',
    description: 'Asks the person one question when only they can decide. Give choices when there are few.',
    properties: {
      question: { type: 'string' },
      choices: { type: 'array', items: { type: 'string' }, maxItems: 9 },
    },
    required: ['question'],
    async call({ question, choices }, { signal }) {
      if (!dialog) return failed('Nobody can be asked here. Decide by yourself, and say what you assumed.');
      const answer = await dialog.ask(String(question), (choices as string[] | undefined) ?? [], signal);
      return answer === undefined ? failed('The person did not answer.') : replied(answer);
    },
  });
