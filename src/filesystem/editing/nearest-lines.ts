import { keyOf, likenessTo } from './likeness.ts';

/** How much time may be spent; what was found until then is the answer. */
const budgetMs = 60;
/** A line that occurs more often says little of where a text begins. */
const mostSame = 4;
/** Of so many lines the likeness is told. */
const mostCompared = 50;
const leastLikeness = 0.4;
const candidates = 3;

/**
 * The line of a text, from 0, where lines most like the given ones begin; undefined when none are. First by lines that
 * are the same but for blanks, quotes and case: each votes for a beginning. Without one, by the longest lines and
 * those of the text that are most like them.
 */
export function nearestStart(text: readonly string[], wanted: readonly string[]): number | undefined {
  const until = performance.now() + budgetMs;
  const same = votesOfSame(text, wanted, until);
  const votes = same.size > 0 ? same : votesOfAlike(text, wanted, until);
  const best = [...votes].sort(([, one], [, other]) => other - one).slice(0, candidates);
  const scored = best.map(([start]) => ({ start, score: likenessAt(text, wanted, start) }));
  scored.sort((one, other) => other.score - one.score);
  const [first] = scored;
  return first && first.score >= leastLikeness / 2 ? Math.max(0, first.start) : undefined;
}

/** For each line where the text may begin, how much speaks for it. */
type Votes = Map<number, number>;

const add = (votes: Votes, start: number, weight: number): void => {
  votes.set(start, (votes.get(start) ?? 0) + weight);
};

function votesOfSame(text: readonly string[], wanted: readonly string[], until: number): Votes {
  const places = new Map<number, number[]>();
  for (const [index, line] of wanted.entries()) {
    const key = keyOf(line);
    const known = places.get(key) ?? [];
    if (key !== 0 && known.length < mostSame) places.set(key, [...known, index]);
  }
  const votes: Votes = new Map();
  if (places.size === 0) return votes;
  for (const [line, content] of text.entries()) {
    if (line % 512 === 0 && performance.now() > until) break;
    const same = places.get(keyOf(content));
    for (const index of same ?? [])
      add(votes, line - index, Math.min(80, content.length) / (same?.length ?? 1));
  }
  return votes;
}

function votesOfAlike(text: readonly string[], wanted: readonly string[], until: number): Votes {
  const longest = wanted
    .map((line, index) => ({ index, length: line.trim().length, line }))
    .sort((one, other) => other.length - one.length)
    .slice(0, candidates)
    .map(({ index, length, line }) => ({ index, length, like: likenessTo(line) }));
  const votes: Votes = new Map();
  for (const [line, content] of text.entries()) {
    if (line % 256 === 0 && performance.now() > until) break;
    for (const { index, length, like } of longest) {
      // Of very different lengths, not enough can be shared.
      if (content.length < length / 4 || content.trim().length > length * 4 + 4) continue;
      const likeness = like(content);
      if (likeness >= leastLikeness) add(votes, line - index, likeness * likeness * length);
    }
  }
  return votes;
}

/** How alike a text is from a line on: the average of its lines, weighed by their length. */
function likenessAt(text: readonly string[], wanted: readonly string[], start: number): number {
  let [score, whole] = [0, 0];
  for (const [index, line] of wanted.slice(0, mostCompared).entries()) {
    const { length } = line.trim();
    whole += length;
    if (length > 0) score += length * likenessTo(line)(text[start + index] ?? '');
  }
  return whole === 0 ? 0 : score / whole;
}
