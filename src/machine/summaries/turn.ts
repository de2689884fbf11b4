/** Resolves when all that waited has had its turn. */
export const othersTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Whether a text has more of these characters than that: as much as that takes to read. */
export function hasMore(text: string, characters: string, most: number): boolean {
  const codes = new Set([...characters].map((one) => one.charCodeAt(0)));
  let count = 0;
  for (let at = 0; at < text.length; at++) if (codes.has(text.charCodeAt(at)) && ++count > most) return true;
  return false;
}
