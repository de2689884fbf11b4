/** Foreign text as one line of a message: no control characters, no line ends, not too long. */
export function oneLine(text: string, most = 300): string {
  // eslint-disable-next-line no-control-regex
  const line = text.replaceAll(/[\s\u0000-\u001f\u007f-\u009f]+/g, ' ').trim();
  return (line.length <= most ? line : `${line.slice(0, most)}…`).toWellFormed();
}
