/** The number of the line that a byte is in, from 1. */
export function lineAt(text: Buffer, at: number): number {
  let line = 1;
  for (let feed = text.indexOf(10); feed !== -1 && feed < at; feed = text.indexOf(10, feed + 1)) line++;
  return line;
}

/** The byte at which a line begins; one behind the end when there is no line of that number. */
export function lineStart(text: Buffer, line: number): number {
  let start = 0;
  for (let number = 1; number < line; number++) {
    const feed = text.indexOf(10, start);
    if (feed === -1) return text.length + 1;
    start = feed + 1;
  }
  return start;
}
