/** The beginning and the end of a text, about `most` characters in all: a tool tells its result at one of them. */
export function shortened(text: string, most: number): string {
  if (text.length <= most) return text.toWellFormed();
  const head = text.slice(0, Math.ceil(most * 0.6));
  const tail = text.slice(-Math.floor(most * 0.4));
  const missing = text.length - head.length - tail.length;
  return `${head}\n[… ${missing} characters left out; ask for a part of it …]\n${tail}`.toWellFormed();
}
