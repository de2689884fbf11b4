interface Answer {
  content: readonly { type: string; text?: string }[];
}

/** The text of a result as one string. */
export const textOf = (result: unknown): string =>
  (result as Answer).content.map((part) => part.text ?? `[${part.type}]`).join('\n');
