/** A content that shows whether it is whole: its number, and so many lines that say it again. */
export function version(number: number): Buffer {
  const lines = (number * 7919) % 5000;
  return Buffer.from(`${number}\n${`${number} is a line of this version\n`.repeat(lines)}end ${number}\n`);
}

/** Its number; throws when it is not whole. */
export function numberOf(content: Buffer): number {
  const number = Number.parseInt(content.toString('utf8'), 10);
  if (!version(number).equals(content)) throw new Error(`not a whole version: ${content.subarray(0, 100)}`);
  return number;
}

export const nextVersion = (before: Buffer | undefined): Buffer => version(before ? numberOf(before) + 1 : 1);
