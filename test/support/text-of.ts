interface Answer {
  content: readonly { type: string; text?: string }[];
}

/** What a result says, as one text. */
export const textOf = (result: unknown): string =>
  (result as Answer).content.map((part) => part.text ?? `[${part.type}]`).join('\n');
