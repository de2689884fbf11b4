/** Foreign text as one line of so many characters at most: no control characters, no half ones. */
export function oneLine(text: string, most = 300): string {
  // eslint-disable-next-line no-control-regex
  const line = text.replaceAll(/[\s\u0000-\u001f\u007f-\u009f]+/g, ' ').trim();
  const shown = line.length <= most ? line : `${line.slice(0, most - 1).replace(/[\uD800-\uDBFF]$/, '')}…`;
  return shown.toWellFormed();
}
