/** Whether a pattern is for a tool: `mcp__…` only by its whole name, since a server may call its tools anything. */
export const isNamed = (
  pattern: string,
  { tool, name }: { readonly tool: string; readonly name: string },
): boolean => globMatches(pattern, name) || (!pattern.startsWith('mcp__') && globMatches(pattern, tool));

/**
 * Whether a pattern, in which `*` stands for any characters, fits the whole text. Linear in both, whatever they
 * hold.
 */
export function globMatches(pattern: string, text: string): boolean {
  const [head = '', ...rest] = pattern.split('*');
  if (rest.length === 0) return text === pattern;
  if (!text.startsWith(head)) return false;
  const tail = rest.pop() ?? '';
  let at = head.length;
  for (const part of rest) {
    const found = text.indexOf(part, at);
    if (found < 0) return false;
    at = found + part.length;
  }
  return text.length - tail.length >= at && text.endsWith(tail);
}

/** Whether a list of patterns wants something: `!` excludes, the last pattern that fits decides; without any, all. */
export function isWanted(patterns: readonly string[] = [], fits: (pattern: string) => boolean): boolean {
  const last = patterns.findLast((pattern) => fits(pattern.replace(/^!/, '')));
  return last === undefined ? patterns.every((pattern) => pattern.startsWith('!')) : !last.startsWith('!');
}
