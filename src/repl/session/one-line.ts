/** Text on one line, cut to so many characters and never in the middle of one. */
export function oneLine(text: string, most: number): string {
  const flat = text.replaceAll(/\s+/g, ' ').trim();
  if (flat.length <= most) return flat;
  return `${flat.slice(0, most - 1).replace(/[\uD800-\uDBFF]$/, '')}…`;
}
