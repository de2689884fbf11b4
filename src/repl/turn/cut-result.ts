/** As other hosts have it, some 25,000 tokens; and a quarter of what a small model can hold. */
const mostChars = 100_000;

/** The text as the model gets it: its head and its tail when it is long, with a line that says how much is missing. */
export function limited(text: string, contextWindow: number): string {
  const most = Math.min(mostChars, contextWindow);
  if (text.length <= most) return text.toWellFormed();
  const head = text.slice(0, Math.ceil(most * 0.7));
  const tail = text.slice(-Math.floor(most * 0.3));
  const missing = text.length - head.length - tail.length;
  return `${head}\n[… ${missing} characters left out; ask for a part of it …]\n${tail}`.toWellFormed();
}
