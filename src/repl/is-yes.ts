/** Whether a question was answered with yes: no answer is none. */
export const isYes = (said: string | undefined): boolean => /^y(es)?$/i.test(said?.trim() ?? '');
