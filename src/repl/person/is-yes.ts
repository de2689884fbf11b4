/** What a question for yes or no was answered with; undefined for anything else. */
export function yesOrNo(said: string): boolean | undefined {
  const word = said.trim();
  if (/^y(es)?$/i.test(word)) return true;
  return /^no?$/i.test(word) ? false : undefined;
}

/** Asks until it is yes or no: what was typed for something else is neither. Undefined when it was interrupted. */
export async function askYesOrNo(
  ask: (question: string) => Promise<string | undefined>,
  question: string,
): Promise<boolean | undefined> {
  for (let again = ''; ; again = 'y or n: ') {
    const said = await ask(`${again}${question}`);
    if (said === undefined) return undefined;
    const answer = yesOrNo(said);
    if (answer !== undefined) return answer;
  }
}
