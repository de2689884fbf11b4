import { headOf } from '../../core/cut-text.ts';

/** A test, rule or check that did not pass. */
export interface Failure {
  readonly name: string;
  /** `file:line`, where it is known. */
  readonly place?: string | undefined;
  /** What was said about it; shortened when it is shown. */
  readonly message: string;
}

/** What a report in a format for machines says. */
export interface Summary {
  /** The format, as people call it. */
  readonly format: string;
  /** In the order in which they are told; those of zero may be among them. */
  readonly counts: Readonly<Record<string, number>>;
  /** The first ones, at most `mostFailures`. */
  readonly failures: readonly Failure[];
  /** All of them, as many as were counted. */
  readonly failureCount: number;
  /** Why this may not be all that happened: with any, the end of the output itself is shown too. */
  readonly doubts: readonly string[];
}

/** What stands for the summary of a report that takes too long to read: nothing else goes on meanwhile. */
export const tooLarge = 'too large';

/** As many as somebody reads before the first is mended. */
export const mostFailures = 50;
const messageCharacters = 800;
const nameCharacters = 300;

/** Collects failures: the first ones, and the number of all. */
export function collectFailures() {
  const failures: Failure[] = [];
  let count = 0;
  return {
    add(failure: Failure): void {
      if (count++ < mostFailures) failures.push(failure);
    },
    get result() {
      return { failures, failureCount: count };
    },
  };
}

/** A summary in at most `most` characters: the counts, then each failure, as many as have room. */
export function tellSummary(
  { format, counts, failures, failureCount, doubts }: Summary,
  most: number,
): string {
  const numbers = Object.entries(counts)
    .filter(([name, count], index) => count > 0 || index < 2 || name === 'failed')
    .map(([name, count]) => `${count} ${name}`);
  const head = [
    `${format}: ${numbers.join(', ')}`,
    ...doubts.map((doubt) => shortened(doubt, nameCharacters)),
  ];
  const parts = [head.join('\n')];
  let size = parts[0]?.length ?? 0;
  let told = 0;
  for (const failure of failures) {
    const text = tellFailure(failure);
    if (told > 0 && size + text.length > most - 100) break;
    parts.push(text);
    size += text.length + 1;
    told++;
  }
  if (failureCount > told) parts.push(`… and ${failureCount - told} more`);
  return parts.join('\n');
}

function tellFailure({ name, place, message }: Failure): string {
  const title = `✗ ${oneLine(name)}${place === undefined ? '' : ` (${oneLine(place)})`}`;
  const lines = shortened(message.trim(), messageCharacters).split('\n');
  return [
    title,
    ...lines.filter((line, at) => line !== '' || at > 0).map((line) => `    ${line}`.trimEnd()),
  ].join('\n');
}

const oneLine = (text: string): string => shortened(text.replaceAll(/\s+/g, ' ').trim(), nameCharacters);

const shortened = (text: string, most: number): string =>
  text.length <= most ? text : `${headOf(text, most)}…`;
