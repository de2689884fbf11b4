import type { ElicitRequestFormParams } from '@modelcontextprotocol/server';
import { offered, sayings, type Question, type Said } from './question.ts';
import { questionText, refuseCut } from './question-text.ts';
import { inOneLine } from './shown-text.ts';

/** A choice is a button or a line of a list. */
const titleCharacters = 150;

/**
 * The form a client shows its user: the question, and one field with the answers that are offered. Without `titled` the
 * choices have the form that clients before 2025-11-25 know. Throws TOO_LARGE for what cannot be shown whole.
 */
export function askingFor(question: Question, titled: boolean): ElicitRequestFormParams {
  refuseCut(question);
  const choices = sayings
    .filter((said) => offered(question, said))
    .map((said) => ({ const: said, title: inOneLine(titleOf(said, question), titleCharacters) }));
  // Whoever presses Enter without reading has not agreed.
  const field = { type: 'string', title: 'Answer', default: 'no' } as const;
  return {
    mode: 'form',
    message: questionText(question),
    requestedSchema: {
      type: 'object',
      properties: {
        decision: titled
          ? { ...field, oneOf: choices }
          : { ...field, enum: choices.map((one) => one.const), enumNames: choices.map((one) => one.title) },
      },
      required: ['decision'],
    },
  };
}

function titleOf(said: Said, { offers }: Question): string {
  if (said === 'yes') return 'Yes, this time';
  if (said === 'no') return 'No';
  return offers[said] ?? said;
}
